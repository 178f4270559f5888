// SPDX-License-Identifier: Apache-2.0
/** What a kernel is, and the tensors that it reads and writes. */
package io.kiln.reference.kernel;
