// SPDX-License-Identifier: Apache-2.0
/** Element-wise operators. */
package io.kiln.frontend.onnx.elementwise;
