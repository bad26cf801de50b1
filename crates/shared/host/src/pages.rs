//! Memory that begins where a page does: copies between places that lie badly to each other take a tenth of the rate on
//! some processors, and users' long buffers lie alike.

const PAGE_BYTES: usize = 4096;

#[repr(align(4096))]
#[derive(Clone)]
struct Page(
    #[expect(dead_code, reason = "read by its address, with its neighbours")] [u8; PAGE_BYTES],
);

pub struct Pages(Vec<Page>);

impl Pages {
    /// So many bytes, a multiple of a page's, all of them there.
    pub fn new(bytes: usize) -> Pages {
        Pages(vec![Page([1; PAGE_BYTES]); bytes / PAGE_BYTES])
    }

    pub fn bytes(&self) -> &[u8] {
        // SAFETY: pages are bytes one after the other.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * PAGE_BYTES) }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let bytes = self.0.len() * PAGE_BYTES;
        // SAFETY: as in `bytes`, and borrowed by this alone.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), bytes) }
    }
}
