// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.tflite.single.Agreement;
import io.kiln.frontend.tflite.single.TfliteOracle;
import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.TransposedWindow;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.plan.Plan.QuantizedNetwork;
import io.kiln.quantize.plan.Precision;
import io.kiln.quantize.quality.Evaluation;
import io.kiln.quantize.range.Calibration.RangeMethod;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.Interpreter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** TensorFlow Lite gives the answers of a quantized network when it runs the file that Kiln writes. */
class WrittenModelTest {
    private static final Window SAME = Window.of(3, 3).padded(1, 1, 1, 1);
    private static final String FLOAT = "float functions between layers";
    private static final Window POOL = Window.of(2, 2).strided(2, 2);

    /** A network of one input. */
    private interface Net {
        Arg.Ref build(FloatNet net, Arg.Ref image);
    }

    private static Arguments net(String name, Net net) {
        return Arguments.of(name, net);
    }

    static Stream<Arguments> nets() {
        return Stream.of(layers(), movements(), rest()).flatMap(nets -> nets);
    }

    private static Stream<Arguments> layers() {
        return Stream.of(
                net("layers", (n, x) -> {
                    Arg.Ref deep = n.relu(n.depthwise(n.relu(n.conv(x, SAME.strided(2, 2), 8)), SAME));
                    Arg.Ref flat = n.bind(new Reshape(Shape.of(1, 72)), n.bind(new AvgPool2d(Window.of(1, 1)), deep));
                    return n.bind(new Softmax(1), flat);
                }),
                net("a fully connected layer", (n, x) -> n.relu(n.dense(n.bind(new Reshape(Shape.of(1, 108)), x), 20))),
                net(
                        "padding on all sides of a strided convolution",
                        (n, x) -> n.conv(x, SAME.strided(2, 1).padded(2, 0, 1, 2), 4)),
                net("a residual block", (n, x) -> {
                    Arg.Ref first = n.relu(n.conv(x, SAME, 4));
                    Arg.Ref sum = n.bind(new Binary(Binary.Kind.ADD), first, n.conv(first, SAME, 4));
                    return n.bind(new Clip(0, 6), sum);
                }),
                net("a clamp that no activation does", (n, x) -> n.bind(new Clip(-0.5, 0.75), n.conv(x, SAME, 4))));
    }

    private static Stream<Arguments> movements() {
        return Stream.of(
                net("parts of one scale", (n, x) -> {
                    Arg.Ref left = n.relu(n.conv(x, SAME, 2));
                    Arg.Ref right = n.conv(x, SAME, 3);
                    Arg.Ref joined = n.bind(new Concatenate(3, 3), left, right, x);
                    return n.conv(n.bind(new MaxPool2d(POOL), joined), SAME, 2);
                }),
                net("movements", (n, x) -> {
                    Arg.Ref turned = n.bind(new Transpose(List.of(0, 2, 1, 3)), n.conv(x, SAME, 4));
                    Arg.Ref cut = n.bind(
                            new StridedSlice(List.of(0, 5, 0, 0), List.of(1, -7, 6, 4), List.of(1, -2, 1, 1)), turned);
                    Arg.Ref padded =
                            n.bind(new Pad(List.of(0, 1, 0, 0), List.of(0, 0, 2, 0)), cut, Constant.scalar(0f));
                    return n.bind(new Resize2d(9, 7, true, false, true), padded);
                }),
                net("functions of elements", (n, x) -> {
                    Arg.Ref swish = n.bind(new Unary(Unary.Kind.HARD_SWISH), n.conv(x, SAME, 4));
                    Arg.Ref gate = n.bind(new Unary(Unary.Kind.SIGMOID), n.conv(swish, SAME, 4));
                    Arg.Ref product = n.bind(new Binary(Binary.Kind.MULTIPLY), swish, gate);
                    Arg.Ref leaky = n.bind(new LeakyRelu(0.1f), n.conv(product, SAME, 4));
                    return n.bind(new Unary(Unary.Kind.TANH), leaky);
                }),
                net("slopes and distances", (n, x) -> {
                    Arg.Ref bent = n.bind(new Binary(Binary.Kind.PRELU), n.conv(x, SAME, 4), n.constant(0.3f, 1, 1, 4));
                    return n.bind(new Binary(Binary.Kind.SQUARED_DIFFERENCE), bent, n.conv(x, SAME, 4));
                }),
                net("gathered and repeated elements", (n, x) -> {
                    Arg.Ref gathered = n.bind(new Take(2, 0), n.conv(x, SAME, 4), Constant.vector(5, 0, 2));
                    Arg.Ref mean = n.bind(new Reduce(Reduce.Kind.MEAN, List.of(1), true), gathered);
                    return n.bind(new BroadcastTo(Shape.of(1, 5, 3, 4)), mean);
                }));
    }

    private static Stream<Arguments> rest() {
        return Stream.of(
                net("products of matrices", (n, x) -> {
                    Arg.Ref rows = n.bind(new Reshape(Shape.of(1, 36, 4)), n.conv(x, SAME, 4));
                    Arg.Ref keys = n.bind(new Reshape(Shape.of(1, 36, 4)), n.relu(n.conv(x, SAME, 4)));
                    Arg.Ref scores =
                            n.bind(new TflBatchMatmul(false, true), rows, keys, Constant.scalar(0), Constant.scalar(0));
                    return n.bind(
                            new TflBatchMatmul(false, false),
                            n.bind(new Softmax(1), scores),
                            rows,
                            Constant.scalar(0),
                            Constant.scalar(0));
                }),
                net("constants as operands", (n, x) -> {
                    Arg.Ref sum = n.bind(new Binary(Binary.Kind.ADD), x, n.constant(2, 1, 6, 6, 3));
                    return n.bind(new Binary(Binary.Kind.MAXIMUM), sum, n.constant(0.3f, 1, 6, 6, 3));
                }),
                net("means and maxima", (n, x) -> {
                    Arg.Ref mean = n.bind(new Reduce(Reduce.Kind.MEAN, List.of(1, 2), true), n.conv(x, SAME, 4));
                    return n.bind(new Reduce(Reduce.Kind.MAX, List.of(3), false), mean);
                }),
                net(
                        "a transposed convolution",
                        (n, x) -> n.bind(
                                new Conv2dTranspose(new TransposedWindow(POOL, 0, 0), 4),
                                x,
                                n.constant(0.3f, 4, 2, 2, 3))),
                net(
                        "a pool with padding of its own",
                        (n, x) -> n.bind(
                                new MaxPool2d(Window.of(3, 3).strided(2, 2).padded(1, 1, 1, 1)), n.conv(x, SAME, 4))),
                net(FLOAT, (n, x) -> {
                    Arg.Ref exp = n.bind(new Unary(Unary.Kind.EXP), n.conv(x, SAME, 4));
                    return n.conv(n.bind(new Binary(Binary.Kind.DIVIDE), exp, Constant.scalar(3f)), SAME, 2);
                }));
    }

    static Stream<Arguments> cases() {
        return nets().flatMap(net -> Stream.of(
                Arguments.of(net.get()[0], net.get()[1], QuantizeMode.INT8, false),
                Arguments.of(net.get()[0], net.get()[1], QuantizeMode.INT8, true),
                Arguments.of(net.get()[0], net.get()[1], QuantizeMode.INT16X8, false)));
    }

    @ParameterizedTest(name = "{0}, {2}, float border {3}")
    @MethodSource("cases")
    void tensorflowLiteAnswersTheSame(String name, Net net, QuantizeMode mode, boolean floatBorder) {
        Optional<String> missing = TfliteOracle.missing();
        assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
        FloatNet builder = new FloatNet(name.hashCode());
        Function model = builder.function(net.build(builder, builder.input(1, 6, 6, 3)));
        List<Sample> samples = FloatNet.samples(model, 8, 3);
        QuantizeOptions options = new QuantizeOptions(
                mode,
                RangeMethod.MINMAX,
                QuantizeOptions.Equalize.AUTO,
                List.of(),
                floatBorder,
                QuantizeOptions.Limits.NONE);
        Quantized quantized =
                new Quantizer(new TfliteMaker("net.tflite"), Runs.Progress.NONE).quantize(model, samples, options);
        assertThat(quantized.network().missing()).isEmpty();
        if (mode == QuantizeMode.INT8 && !name.equals(FLOAT)) {
            assertThat(quantized.network().plan().nodes()).noneMatch(node -> node.precision() == Precision.FLOAT);
        }
        DType border = floatBorder ? DType.FLOAT32 : mode == QuantizeMode.INT8 ? DType.INT8 : DType.INT16;
        assertThat(quantized.function().params().get(0).type().dtype()).isEqualTo(border);
        assertThat(quantized.quality().sqnr()).isGreaterThan(mode == QuantizeMode.INT8 ? 20 : 35);
        assertSameAnswers(quantized, samples);
    }

    /** Compares the answers of the file in TensorFlow Lite with those of the function: integers must be equal. */
    static void assertSameAnswers(Quantized quantized, List<Sample> samples) {
        assertSameAnswers(quantized.network(), samples, "");
    }

    /** The same for all outputs, with what a failure is to name. */
    static void assertSameAnswers(QuantizedNetwork network, List<Sample> samples, String what) {
        byte[] file = network.file().orElseThrow().toArray();
        Function function = network.function();
        List<List<Bytes>> rounds = new ArrayList<>();
        for (Sample sample : samples) {
            rounds.add(Evaluation.inputs(function, sample));
        }
        List<List<TfliteOracle.Output>> answers = TfliteOracle.runAll(file, rounds);
        for (int k = 0; k < rounds.size(); k++) {
            List<Bytes> actual = Interpreter.run(function, rounds.get(k));
            for (int i = 0; i < actual.size(); i++) {
                DType dtype =
                        function.types().get(function.results().get(i).id()).dtype();
                assertThat(Agreement.differenceFromOracle(
                                dtype, answers.get(k).get(i).data(), actual.get(i)))
                        .as("%s, sample %d, output %d", what, k, i)
                        .isEmpty();
            }
        }
    }
}
