// SPDX-License-Identifier: Apache-2.0
/** Importers of ONNX's operators for machine learning other than neural networks ({@code ai.onnx.ml}): trees, linear models, and what prepares their data. */
package io.kiln.frontend.onnx.ml;
