//! A stock Linux kernel in simulated time: User-Mode Linux, its clock and its network card.
//!
//! | file | what |
//! | --- | --- |
//! | `kernels.rs`, `kernels/` | [`Kernel`]: built from source, kept in the user's cache, found again |

mod kernels;
