//! The dimensions of an array that a descriptor describes.

/// As C's descriptors have it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dimension {
    pub lower_bound: isize,
    /// -1 for the last one of an array whose size is not known.
    pub extent: isize,
    /// Bytes from one element to the next.
    pub stride: isize,
}

/// Whether elements of so many bytes touch, one behind the other; so do none.
#[inline(always)]
pub fn are_contiguous(element: usize, dimensions: &[Dimension]) -> bool {
    let mut expected = element.cast_signed();
    for dimension in dimensions {
        if dimension.extent > 1 && dimension.stride != expected {
            // A dimension without elements leaves nothing that stands apart.
            return dimensions.iter().any(|dimension| dimension.extent == 0);
        }
        expected *= dimension.extent;
    }
    true
}
