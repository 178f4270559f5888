// SPDX-License-Identifier: Apache-2.0
/** Control flow whose path is known at build time: loops are unrolled, branches chosen. */
package io.kiln.frontend.onnx.control;
