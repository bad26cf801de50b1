//! Values that are named by small numbers, which come again.

pub struct Slab<T> {
    values: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Slab<T> {
    pub fn new() -> Slab<T> {
        Slab {
            values: Vec::new(),
            free: Vec::new(),
        }
    }

    pub fn insert(&mut self, value: T) -> usize {
        match self.free.pop() {
            Some(index) => {
                self.values[index] = Some(value);
                index
            }
            None => {
                self.values.push(Some(value));
                self.values.len() - 1
            }
        }
    }

    pub fn remove(&mut self, index: usize) -> Option<T> {
        let value = self.values.get_mut(index)?.take()?;
        self.free.push(index);
        Some(value)
    }

    #[inline]
    pub fn at(&self, index: usize) -> Option<&T> {
        self.values.get(index)?.as_ref()
    }

    #[inline]
    pub fn at_mut(&mut self, index: usize) -> Option<&mut T> {
        self.values.get_mut(index)?.as_mut()
    }

    pub fn len(&self) -> usize {
        self.values.len() - self.free.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        let all = self.values.iter().enumerate();
        all.filter_map(|(index, value)| Some((index, value.as_ref()?)))
    }

    /// The numbers of the values for which `which` holds.
    pub fn which(&self, which: impl Fn(&T) -> bool) -> Vec<usize> {
        let found = self.iter().filter(|(_, value)| which(value));
        found.map(|(index, _)| index).collect()
    }
}
