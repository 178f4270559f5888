// SPDX-License-Identifier: Apache-2.0
/** Kernels of element-wise operators. */
package io.kiln.reference.element;
