// SPDX-License-Identifier: Apache-2.0
/** Kernels of signal operators and filter banks. */
package io.kiln.reference.signal;
