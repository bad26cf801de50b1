//! Complex numbers as C lays them out, with C's multiplication.

use super::number::{Number, Real};

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Complex<T> {
    pub re: T,
    pub im: T,
}

impl<T: Real> Number for Complex<T> {
    #[inline(always)]
    fn sum(self, other: Self) -> Self {
        Complex {
            re: self.re.sum(other.re),
            im: self.im.sum(other.im),
        }
    }

    #[inline(always)]
    fn product(self, other: Self) -> Self {
        let (a, b) = (self.widened(), other.widened());
        let mut product = plain_product(a, b);
        if product.re.is_nan() && product.im.is_nan() {
            product = infinite_product(a, b).unwrap_or(product);
        }
        Complex {
            re: T::rounded(product.re),
            im: T::rounded(product.im),
        }
    }
}

impl<T: Real> Complex<T> {
    #[inline(always)]
    fn widened(self) -> Complex<T::Product> {
        Complex {
            re: self.re.widened(),
            im: self.im.widened(),
        }
    }
}

#[inline(always)]
fn plain_product<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    Complex {
        re: a.re.product(b.re).difference(a.im.product(b.im)),
        im: a.re.product(b.im).sum(a.im.product(b.re)),
    }
}

/// The product where the formula gave no number although the result is an infinity (ISO C, annex G.5.1): an
/// operand was infinite, or a partial product overflowed.
#[cold]
fn infinite_product<T: Real>(a: Complex<T>, b: Complex<T>) -> Option<Complex<T>> {
    let is_infinite = |z: Complex<T>| z.re.is_infinite() || z.im.is_infinite();
    // An infinite operand counts as the corner of the unit square in its direction.
    let boxed = |z: Complex<T>| {
        let corner = |part: T| {
            let magnitude = if part.is_infinite() { T::ONE } else { T::ZERO };
            magnitude.with_sign_of(part)
        };
        if is_infinite(z) {
            Complex {
                re: corner(z.re),
                im: corner(z.im),
            }
        } else {
            z
        }
    };
    let partial = [
        a.re.product(b.re),
        a.im.product(b.im),
        a.re.product(b.im),
        a.im.product(b.re),
    ];
    let overflowed = partial.into_iter().any(T::is_infinite);
    if !(is_infinite(a) || is_infinite(b) || overflowed) {
        return None;
    }
    // What is not a number beside an infinity counts as nothing.
    let cleared = |z: Complex<T>| {
        let clear = |part: T| {
            if part.is_nan() {
                T::ZERO.with_sign_of(part)
            } else {
                part
            }
        };
        Complex {
            re: clear(z.re),
            im: clear(z.im),
        }
    };
    let direction = plain_product(cleared(boxed(a)), cleared(boxed(b)));
    Some(Complex {
        re: T::INFINITY.product(direction.re),
        im: T::INFINITY.product(direction.im),
    })
}
