// SPDX-License-Identifier: Apache-2.0
/**
 * Quantized models. In the QDQ format a float operator stands between DequantizeLinear and QuantizeLinear: its importer makes the
 * float operator, and here the value gets an {@link io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm} beside it. QuantizeLinear asks the
 * form for integers; the float operators on which nothing depends then are dropped. The QOperator format
 * ({@code QLinearConv} ...) states the same in one operator, and takes the same way.
 */
package io.kiln.frontend.onnx.quantized;
