// SPDX-License-Identifier: Apache-2.0
/** Products of tensors by their indices, and transforms of signals. */
package io.kiln.frontend.onnx.tensor;
