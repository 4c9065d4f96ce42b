//! Lists of steps by pair or by state, in two blocks of memory however many lists there are.

/// A list of steps for each of a range of ids.
#[derive(Debug, Clone, Default)]
pub struct Lists {
    /// Where the list of each id ends.
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Puts each item of `pairs` (id, item) into the list of its id, in the order in which they come.
    /// Ids from `len` on are left out.
    #[must_use]
    pub fn new(len: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        // Counted first, so that each list has its place when its items come: `next` is where.
        let mut next = vec![0_u32; len];
        for (id, _) in pairs.clone() {
            if let Some(count) = next.get_mut(id as usize) {
                *count += 1;
            }
        }
        let mut all = 0;
        for slot in &mut next {
            all += std::mem::replace(slot, all);
        }
        let mut items = vec![0; all as usize];
        for (id, item) in pairs {
            if let Some(at) = next.get_mut(id as usize)
                && let Some(slot) = items.get_mut(*at as usize)
            {
                *slot = item;
                *at += 1;
            }
        }
        Self { ends: next, items }
    }

    /// The list of an id; empty for ids that there are none of.
    #[must_use]
    pub fn get(&self, id: u32) -> &[u32] {
        let at = id as usize;
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        self.ends
            .get(at)
            .and_then(|&end| self.items.get(start.unwrap_or(0) as usize..end as usize))
            .unwrap_or_default()
    }

    /// The lists in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.ends.len() as u32).map(|id| self.get(id))
    }
}

#[cfg(test)]
mod tests {
    use super::Lists;

    #[test]
    fn items_keep_their_order_and_ids_without_any_are_empty() {
        let lists = Lists::new(4, [(2, 9), (0, 5), (2, 7), (3, 1), (9, 4)].into_iter());
        let all: Vec<&[u32]> = lists.iter().collect();
        assert_eq!(all, [&[5][..], &[], &[9, 7], &[1]]);
        assert!(lists.get(4).is_empty());
    }
}
