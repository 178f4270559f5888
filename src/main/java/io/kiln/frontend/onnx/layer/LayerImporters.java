// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.layer;

import static io.kiln.frontend.onnx.operator.Registration.onnx;

import io.kiln.frontend.onnx.operator.Registration;
import java.util.List;
import java.util.stream.Stream;

/** The table of convolutions, matrix products, pools and normalizations. */
public final class LayerImporters {
    private static final List<Registration> OWN = List.of(
            onnx("Conv", new ConvolutionImporter()),
            onnx("ConvTranspose", new TransposedConvolutionImporter()),
            onnx("Gemm", new GemmImporter()),
            onnx("MatMul", new MatMulImporter()),
            onnx("Softmax", new SoftmaxImporter(false)),
            onnx("LogSoftmax", new SoftmaxImporter(true)));

    /** All operators of the family. */
    public static final List<Registration> ALL = Stream.of(
                    OWN, Pools.ALL, Normalizations.ALL, ResponseImporters.ALL, LossImporters.ALL)
            .flatMap(List::stream)
            .toList();

    private LayerImporters() {}
}
