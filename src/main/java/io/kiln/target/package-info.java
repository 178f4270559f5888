// SPDX-License-Identifier: Apache-2.0
/** Compilation targets: microTVM target strings and CPU features. */
package io.kiln.target;
