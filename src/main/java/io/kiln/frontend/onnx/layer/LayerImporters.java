// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import static io.kiln.frontend.onnx.operator.Registration.onnx;

import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.Registration;
import java.util.List;
import java.util.stream.Stream;

/** The table of convolutions, matrix products, pools and normalizations. */
public final class LayerImporters {
    /** {@code Conv}. */
    public static final OnnxImporter CONVOLUTION = new ConvolutionImporter();

    /** {@code MatMul}. */
    public static final OnnxImporter MATRIX_PRODUCT = new MatMulImporter();

    private static final List<Registration> OWN = List.of(
            onnx("Conv", CONVOLUTION),
            onnx("Gemm", new GemmImporter()),
            onnx("MatMul", MATRIX_PRODUCT),
            onnx("Softmax", new SoftmaxImporter(false)),
            onnx("LogSoftmax", new SoftmaxImporter(true)));

    /** All operators of the family. */
    public static final List<Registration> ALL =
            Stream.of(OWN).flatMap(List::stream).toList();

    private LayerImporters() {}
}
