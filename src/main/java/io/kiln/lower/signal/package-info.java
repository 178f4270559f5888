// SPDX-License-Identifier: Apache-2.0
/** Lowering of signal operators and filter banks. */
package io.kiln.lower.signal;
