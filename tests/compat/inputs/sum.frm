* Terms of a power, sorted on several processes.
Symbols a, b, c, d;
Local F = (a + b + c + d)^12;
.sort
id d = a - b;
.sort
Print +f +s;
.end
