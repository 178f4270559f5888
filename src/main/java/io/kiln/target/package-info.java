// SPDX-License-Identifier: Apache-2.0
/** What code is generated for: microTVM target strings and what a CPU can do. */
package io.kiln.target;
