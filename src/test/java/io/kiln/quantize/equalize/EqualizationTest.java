// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.equalize;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import io.kiln.quantize.FloatNet;
import io.kiln.quantize.QuantizeOptions;
import io.kiln.quantize.QuantizeOptions.Equalize;
import io.kiln.quantize.QuantizeOptions.Limits;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.Quantized;
import io.kiln.quantize.Quantizer;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.quantize.range.Calibration;
import io.kiln.quantize.range.Calibration.RangeMethod;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.Interpreter;
import io.kiln.transform.FoldChannelFactors.ChannelConstants;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class EqualizationTest {
    private static final Window SAME = Window.of(3, 3).padded(1, 1, 1, 1);
    private static final Window POINT = Window.of(1, 1);
    private static final Window POOL = Window.of(2, 2).strided(2, 2);
    private static final int CHANNELS = 8;

    private final FloatNet net = new FloatNet(5);

    /** Channels from a tenth of the usual size to ten times it. */
    private static float size(int channel) {
        return (float) Math.pow(10, 2.0 * channel / (CHANNELS - 1) - 1);
    }

    private static Constant scaled(Constant constant, ChannelConstants.ElementMap map) {
        return ChannelConstants.map(constant, map);
    }

    /** A convolution whose channels differ a hundredfold. */
    private Arg.Ref uneven(Arg.Ref data) {
        int inputs = net.shape(data).dim(3);
        Constant weights = net.constant(0.3f, CHANNELS, 3, 3, inputs);
        Arg.Ref sums = net.bind(
                new Conv2d(SAME, 1, CHANNELS, "OHWI"), data, scaled(weights, (i, w) -> w * size(i / (9 * inputs))));
        return net.bind(new BiasAdd(3), sums, scaled(net.constant(0.2f, CHANNELS), (c, b) -> b * size(c)));
    }

    /** A convolution that makes them alike again. */
    private Arg.Ref even(Arg.Ref data) {
        Constant weights = net.constant(0.3f, 4, 3, 3, CHANNELS);
        return net.bind(new Conv2d(SAME, 1, 4, "OHWI"), data, scaled(weights, (i, w) -> w / size(i % CHANNELS)));
    }

    /** A fully connected layer that does so after channels and positions became one dimension. */
    private Arg.Ref evenUnits(Arg.Ref data) {
        int inputs = net.shape(data).dim(1);
        Constant weights = net.constant(0.3f, 5, inputs);
        return net.bind(new Dense(5), data, scaled(weights, (i, w) -> w / size(i % CHANNELS)));
    }

    /** A layer whose data are uneven channels. */
    private interface Between {
        Arg.Ref build(EqualizationTest test, FloatNet net, Arg.Ref uneven);
    }

    private static Arguments between(String name, Between between) {
        return Arguments.of(name, between);
    }

    static Stream<Arguments> homogeneous() {
        return Stream.of(
                between("nothing", (t, n, x) -> t.even(x)),
                between("a ReLU", (t, n, x) -> t.even(n.relu(x))),
                between("a leaky ReLU", (t, n, x) -> t.even(n.bind(new LeakyRelu(0.1f), x))),
                between("pools", (t, n, x) -> t.even(n.bind(new MaxPool2d(POOL), n.bind(new AvgPool2d(POOL), x)))),
                between(
                        "padding that a layer does not take",
                        (t, n, x) -> t.even(n.bind(
                                new MaxPool2d(POOL),
                                n.bind(
                                        new Pad(List.of(0, 1, 1, 0), List.of(0, 1, 1, 0)),
                                        n.relu(x),
                                        Constant.scalar(0f))))),
                between(
                        "a mean and a reshape",
                        (t, n, x) -> t.evenUnits(n.bind(
                                new Reshape(Shape.of(1, CHANNELS)),
                                n.bind(new Reduce(Reduce.Kind.MEAN, List.of(1, 2), true), n.relu(x))))),
                between(
                        "a reshape of positions and channels",
                        (t, n, x) -> t.evenUnits(n.bind(new Reshape(Shape.of(1, 36 * CHANNELS)), n.relu(x)))),
                between("a depthwise layer", (t, n, x) -> t.even(n.relu(n.depthwise(n.relu(x), SAME)))));
    }

    static Stream<Arguments> others() {
        return Stream.of(
                between("a ReLU6", (t, n, x) -> t.even(n.bind(new Clip(0, 6), x))),
                between(
                        "a second bias",
                        (t, n, x) -> t.even(n.bind(new BiasAdd(3), n.relu(x), n.constant(1, CHANNELS)))),
                between(
                        "padding with another number",
                        (t, n, x) -> t.even(n.bind(
                                new Pad(List.of(0, 1, 1, 0), List.of(0, 1, 1, 0)), n.relu(x), Constant.scalar(1f)))),
                between("a second reader", (t, n, x) -> {
                    Arg.Ref both = n.bind(new Binary(Binary.Kind.ADD), t.even(x), n.conv(x, POINT, 4));
                    return n.relu(both);
                }),
                between(
                        "a mean of all channels",
                        (t, n, x) -> n.conv(n.bind(new Reduce(Reduce.Kind.MEAN, List.of(3), true), x), POINT, 2)),
                between(
                        "a product of positions",
                        (t, n, x) -> t.even(n.bind(new Reduce(Reduce.Kind.PROD, List.of(1, 2), true), n.relu(x)))),
                between(
                        "a reshape that mixes channels",
                        (t, n, x) -> n.conv(n.bind(new Reshape(Shape.of(1, 6, 12, 4)), x), POINT, 2)));
    }

    private static Equalization equalized(Function model, List<Sample> samples) {
        FloatGraph graph = FloatGraph.of(model);
        return Equalization.of(
                model,
                Calibration.of(graph, samples, RangeMethod.MINMAX, Runs.Progress.NONE)
                        .magnitudes());
    }

    private Function model(Between between) {
        return net.function(between.build(this, net, uneven(net.input(1, 6, 6, 3))));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("homogeneous")
    void theFloatModelAnswersTheSameBits(String name, Between between) {
        Function model = model(between);
        Equalization equalization = equalized(model, FloatNet.samples(model, 4, 1));
        Verifier.verify(equalization.function());
        assertThat(equalization.steps()).isNotEmpty();
        assertThat(equalization.steps().get(0).spread()).isGreaterThanOrEqualTo(64);
        // Others than those that the factors come from.
        for (Sample sample : FloatNet.samples(model, 4, 2)) {
            List<Bytes> expected = Interpreter.run(model, sample.inputs());
            assertThat(Interpreter.run(equalization.function(), sample.inputs()))
                    .isEqualTo(expected);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("others")
    void nothingChangesWhereFactorsDoNotPass(String name, Between between) {
        Function model = model(between);
        assertThat(equalized(model, FloatNet.samples(model, 2, 1)).steps()).isEmpty();
    }

    @Test
    void theChannelWithTheLargestValuesKeepsItsWeights() {
        Function model = model((test, n, x) -> test.even(n.relu(x)));
        Function function = equalized(model, FloatNet.samples(model, 4, 1)).function();
        Constant before = model.bindings().get(0).constant(1);
        Constant after = function.bindings().get(0).constant(1);
        int last = before.elements() - 1;
        assertThat(after.real(last)).isEqualTo(before.real(last));
        assertThat(Math.abs(after.real(0) / before.real(0))).isGreaterThanOrEqualTo(32);
    }

    private static Quantized quantized(Function model, Equalize equalize) {
        QuantizeOptions options =
                new QuantizeOptions(QuantizeMode.INT8, RangeMethod.MINMAX, equalize, List.of(), false, Limits.NONE);
        return new Quantizer(new TfliteMaker("net"), Runs.Progress.NONE)
                .quantize(model, FloatNet.samples(model, 12, 1), options);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("homogeneous")
    void unevenChannelsLoseMuchLess(String name, Between between) {
        Function model = model(between);
        Quantized never = quantized(model, Equalize.NEVER);
        Quantized auto = quantized(model, Equalize.AUTO);
        assertThat(never.equalized()).isEmpty();
        assertThat(auto.equalized()).isNotEmpty();
        assertThat(auto.quality().sqnr()).isGreaterThan(never.quality().sqnr() + 10);
        assertThat(quantized(model, Equalize.ALWAYS).quality()).isEqualTo(auto.quality());
    }

    @Test
    void channelsOfSimilarSizeAreLeftAlone() {
        Constant weights = scaled(net.constant(0.3f, CHANNELS, 1, 1, 3), (i, w) -> i / 3 % 2 == 0 ? w : 3 * w);
        Arg.Ref first = net.bind(new Conv2d(POINT, 1, CHANNELS, "OHWI"), net.input(1, 6, 6, 3), weights);
        Function model = net.function(net.conv(net.relu(first), SAME, 2));
        assertThat(quantized(model, Equalize.AUTO).equalized()).isEmpty();
        assertThat(quantized(model, Equalize.ALWAYS).equalized()).hasSize(1);
    }
}
