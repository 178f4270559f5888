// SPDX-License-Identifier: Apache-2.0
/** Lowering of element-wise operators. */
package io.kiln.lower.element;
