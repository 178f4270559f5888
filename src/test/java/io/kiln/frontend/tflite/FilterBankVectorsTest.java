// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Function;
import io.kiln.ir.arith.ScaledLogarithm;
import io.kiln.reference.Interpreter;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tensorflow.lite.schema.TensorType;

/** The answers that TensorFlow Lite Micro publishes for its operators on filter banks, options as they stand in its files. */
class FilterBankVectorsTest {
    /** Channels of one of several frames. */
    private static final int FRAME = 32;

    static Stream<PublishedVectors> of(String operator) {
        return PublishedVectors.all("filter_bank_vectors.txt").stream()
                .filter(v -> v.operator().equals(operator));
    }

    static Stream<PublishedVectors> accumulations() {
        return of("SignalFilterBank");
    }

    static Stream<PublishedVectors> squareRoots() {
        return of("SignalFilterBankSquareRoot");
    }

    static Stream<PublishedVectors> subtractions() {
        return of("SignalFilterBankSpectralSubtraction");
    }

    static Stream<PublishedVectors> gainControls() {
        return of("SignalPCAN");
    }

    static Stream<PublishedVectors> logarithms() {
        return of("SignalFilterBankLog");
    }

    @ParameterizedTest
    @MethodSource("accumulations")
    void energiesAreSummedUpInChannels(PublishedVectors v) {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.of("x", TensorType.UINT32, v.size("input")));
        List<Integer> in = new ArrayList<>(List.of(x));
        for (String table : List.of("weights", "unweights", "frequency_starts", "weight_starts", "widths")) {
            in.add(constant(m, v, table));
        }
        int y = m.tensor(TensorSpec.of("y", TensorType.UINT64, v.size("output")));
        m.custom(v.operator(), v.options(), in.stream().mapToInt(i -> i).toArray(), y);

        assertThat(Interpreter.run(m.inputs(x).outputs(y).read(), inputs(v, DType.UINT32)))
                .containsExactly(Bytes.wrap(v.bytes("output", DType.UINT64)));
    }

    @ParameterizedTest
    @MethodSource("squareRoots")
    void rootsAreShifted(PublishedVectors v) {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.of("x", TensorType.UINT64, v.size("input")));
        int bits = m.tensor(TensorSpec.of("bits", TensorType.INT32).withData(v.bytes("bits", DType.INT32)));
        int y = m.tensor(TensorSpec.of("y", TensorType.UINT32, v.size("output")));
        m.custom(v.operator(), new int[] {x, bits}, y);

        assertThat(Interpreter.run(m.inputs(x).outputs(y).read(), inputs(v, DType.UINT64)))
                .containsExactly(Bytes.wrap(v.bytes("output", DType.UINT32)));
    }

    @ParameterizedTest
    @MethodSource("subtractions")
    void noiseIsRememberedFromFrameToFrame(PublishedVectors v) {
        int channels = Math.min(FRAME, v.size("input"));
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.of("x", TensorType.UINT32, channels));
        int y = m.tensor(TensorSpec.of("y", TensorType.UINT32, channels));
        int noise = m.tensor(TensorSpec.of("noise", TensorType.UINT32, channels));
        m.custom(v.operator(), v.options(), new int[] {x}, y, noise);
        Function function = m.inputs(x).outputs(y, noise).read();
        Interpreter.State state = Interpreter.State.initial(function);

        for (int frame = 0; frame < v.size("input") / channels; frame++) {
            assertThat(Interpreter.run(function, List.of(v.frame("input", DType.UINT32, frame, channels)), state))
                    .containsExactly(
                            v.frame("output", DType.UINT32, frame, channels),
                            v.frame("noise", DType.UINT32, frame, channels));
        }
    }

    @ParameterizedTest
    @MethodSource("gainControls")
    void channelsAreDividedByAPowerOfTheirNoise(PublishedVectors v) {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.of("x", TensorType.UINT32, v.size("input")));
        int noise = m.tensor(TensorSpec.of("noise", TensorType.UINT32, v.size("input")));
        int gains = constant(m, v, "gains");
        int y = m.tensor(TensorSpec.of("y", TensorType.UINT32, v.size("output")));
        m.custom(v.operator(), v.options(), new int[] {x, noise, gains}, y);

        List<Bytes> inputs =
                List.of(Bytes.wrap(v.bytes("input", DType.UINT32)), Bytes.wrap(v.bytes("noise", DType.UINT32)));
        assertThat(Interpreter.run(m.inputs(x, noise).outputs(y).read(), inputs))
                .containsExactly(Bytes.wrap(v.bytes("output", DType.UINT32)));
    }

    @ParameterizedTest
    @MethodSource("logarithms")
    void logarithmsAreScaledAndLimited(PublishedVectors v) {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.of("x", TensorType.UINT32, v.size("input")));
        int y = m.tensor(TensorSpec.of("y", TensorType.INT16, v.size("output")));
        m.custom(v.operator(), v.options(), new int[] {x}, y);

        assertThat(Interpreter.run(m.inputs(x).outputs(y).read(), inputs(v, DType.UINT32)))
                .containsExactly(Bytes.wrap(v.bytes("output", DType.INT16)));
    }

    @Test
    void theTableOfLogarithmsIsThePublishedOne() {
        PublishedVectors table = of("log2").findFirst().orElseThrow();

        assertThat(ScaledLogarithm.table())
                .containsExactly(table.numbers().get("table").stream()
                        .mapToInt(BigInteger::intValueExact)
                        .toArray());
    }

    private static int constant(TfliteModelBuilder m, PublishedVectors v, String name) {
        return m.tensor(TensorSpec.of(name, TensorType.INT16, v.size(name)).withData(v.bytes(name, DType.INT16)));
    }

    private static List<Bytes> inputs(PublishedVectors v, DType dtype) {
        return List.of(Bytes.wrap(v.bytes("input", dtype)));
    }
}
