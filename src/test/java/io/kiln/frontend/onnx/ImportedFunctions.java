// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx;

import io.kiln.base.Bytes;
import io.kiln.frontend.InputShapes;
import io.kiln.frontend.InputValues;
import io.kiln.frontend.onnx.ml.RandomForests;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.network.Transformers;
import io.kiln.frontend.onnx.node.NodeFunctions;
import io.kiln.frontend.onnx.quantized.RandomModels;
import io.kiln.frontend.onnx.quantized.RandomRealBiases;
import io.kiln.frontend.onnx.quantized.RandomResizes;
import io.kiln.ir.Function;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** ONNX models of every operator, imported. */
public final class ImportedFunctions {
    private static final long QUANTIZED = 60;
    private static final long OTHERS = 3;

    private ImportedFunctions() {}

    /** The ONNX project's models of single operators, and random ones. */
    public static Stream<Function> all() {
        Stream<Bytes> files = Stream.of(
                        Stream.of(BitwiseTest.model(ElementType.INT32)),
                        LongStream.range(0, RandomFloatModels.OPERATORS.size())
                                .mapToObj(seed -> RandomFloatModels.draw(seed).file()),
                        RandomNewerModels.each().stream(),
                        LongStream.range(0, QUANTIZED)
                                .mapToObj(seed -> RandomModels.draw(seed).file()),
                        LongStream.range(0, OTHERS)
                                .mapToObj(seed -> RandomRealBiases.draw(seed).file()),
                        LongStream.range(0, OTHERS)
                                .mapToObj(seed -> RandomResizes.draw(seed).file()),
                        LongStream.range(0, OTHERS)
                                .mapToObj(seed -> RandomForests.draw(seed).file()))
                .flatMap(each -> each);
        return Stream.of(
                        NodeFunctions.all(),
                        files.map(file -> OnnxFrontend.read(file, "m.onnx", "m", InputShapes.NONE)),
                        Stream.of(streaming("m")))
                .flatMap(each -> each);
    }

    /** A transformer that keeps keys and values as its state. */
    public static Function streaming(String name) {
        Function plain = OnnxFrontend.read(Transformers.streaming(1), "m.onnx", name, InputShapes.NONE);
        return InputValues.parse(Transformers.STATE).withState(plain, "m.onnx");
    }
}
