// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import static io.kiln.transform.NetBuilder.POINT;
import static io.kiln.transform.NetBuilder.SAME;
import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.draw.RandomOperators;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.reference.Interpreter;
import io.kiln.transform.Pipeline.EliminateDeadBindings;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RemoveConstantChannelsTest {
    /** Zero point of what {@link #twoOfThree} computes. */
    private static final int ZERO = 3;

    /** The constant channel of {@link #twoOfThree}: 10 / 2 above the zero point. */
    private static final int VALUE = 8;

    private final NetBuilder net = new NetBuilder();

    /** Three channels; the one in the middle has no weights, and is {@link #VALUE}. */
    private Arg.Ref twoOfThree(Arg.Ref data) {
        Arg.Ref sums = net.bias(net.conv(data, POINT, 3, 0, 5, -7, 0, 0, 90, 11), 4, 10, -6);
        return net.requantize(sums, ZERO, 0.01, 0.5, 0.02);
    }

    private Arg.Ref image() {
        return net.input(1, 4, 5, 2);
    }

    /** The pass's result, which answers as the function does. */
    private Function removed(Arg.Ref... results) {
        Function before = new EliminateDeadBindings().run(net.function(results));
        Function after = new RemoveConstantChannels().run(before);
        Verifier.verify(after);
        for (long seed = 0; seed < 8; seed++) {
            long s = seed;
            List<Bytes> inputs = before.params().stream()
                    .map(p -> RandomOperators.input(p.type(), s * 7 + p.id()))
                    .toList();
            assertThat(Interpreter.run(after, inputs)).isEqualTo(Interpreter.run(before, inputs));
        }
        return after;
    }

    private static int channels(Function function, Arg.Ref value) {
        return function.types().get(value.id()).shape().dim(-1);
    }

    private static int[] ints(Constant constant) {
        return IntStream.range(0, constant.elements())
                .map(i -> (int) constant.integer(i))
                .toArray();
    }

    private Arg.Ref pointwise(Arg.Ref data, int zeroPoint) {
        return net.conv(data, POINT, 2, zeroPoint, 1, 2, 3, 4, -5, 6);
    }

    @Test
    void aConstantGoesIntoTheBiasOfWhoReadsIt() {
        Arg.Ref hidden = twoOfThree(image());
        Arg.Ref sums = net.bias(pointwise(hidden, -1), 100, 200);
        Function after = removed(net.requantize(sums, 0, 0.01, 0.02));
        assertThat(channels(after, hidden)).isEqualTo(2);
        Binding bias = after.bindingsById().get(sums.id());
        assertThat(ints(bias.constant(1))).containsExactly(100 + 2 * (VALUE + 1), 200 - 5 * (VALUE + 1));
        Binding reader = after.bindingsById().get(bias.ref(0));
        assertThat(ints(reader.constant(1))).containsExactly(1, 3, 4, 6);
    }

    @Test
    void aReaderWithoutABiasGetsOne() {
        Arg.Ref sums = pointwise(twoOfThree(image()), 0);
        Arg.Ref out = net.requantize(sums, 0, 0.01, 0.02);
        Function after = removed(out);
        Binding bias =
                after.bindingsById().get(after.bindingsById().get(out.id()).ref(0));
        assertThat(bias.op()).isInstanceOf(BiasAdd.class);
        assertThat(bias.ref(0)).isEqualTo(sums.id());
        assertThat(ints(bias.constant(1))).containsExactly(2 * VALUE, -5 * VALUE);
    }

    @Test
    void accumulatorsThatAreAResultGetNoBias() {
        Arg.Ref hidden = twoOfThree(image());
        assertThat(channels(removed(pointwise(hidden, 0)), hidden)).isEqualTo(3);
    }

    @Test
    void behindPaddingOnlyTheZeroPointIsTheSameEverywhere() {
        Arg.Ref hidden = twoOfThree(image());
        int[] weights = IntStream.range(0, 2 * 9 * 3).map(i -> i - 20).toArray();
        Arg.Ref atZero = net.conv(hidden, SAME, 2, VALUE, weights);
        assertThat(channels(removed(atZero), hidden)).isEqualTo(2);
        Arg.Ref elsewhere = net.requantize(net.conv(hidden, SAME, 2, VALUE - 1, weights), 0, 0.01, 0.01);
        assertThat(channels(removed(atZero, elsewhere), hidden)).isEqualTo(3);
    }

    /** A 3x3 kernel of ones over a constant that is 5 above the zero point sums to 20, 30 or 45, depending on the border. */
    private Arg.Ref nineOnes(Arg.Ref hidden, double scale) {
        int[] weights = IntStream.range(0, 9 * 3).map(i -> i % 3 == 1 ? 1 : i).toArray();
        return net.requantize(net.depthwise(hidden, SAME, 1, VALUE - 5, weights), 0, 0.01, scale, 0.01);
    }

    @Test
    void aDepthwiseMapThatIsUniformAfterRescalingGoes() {
        Arg.Ref hidden = twoOfThree(image());
        Arg.Ref uniform = nineOnes(hidden, 0.01);
        Function after = removed(net.requantize(pointwise(uniform, 0), 0, 0.01, 0.01));
        assertThat(channels(after, hidden)).isEqualTo(2);
        assertThat(channels(after, uniform)).isEqualTo(2);
    }

    @Test
    void aDepthwiseMapThatDiffersAtTheBordersStays() {
        Arg.Ref hidden = twoOfThree(image());
        Arg.Ref bordered = nineOnes(hidden, 0.0125);
        Function after = removed(net.requantize(pointwise(bordered, 0), 0, 0.01, 0.01));
        assertThat(channels(after, bordered)).isEqualTo(3);
        assertThat(channels(after, hidden)).isEqualTo(3);
    }

    @Test
    void limitsCanMakeAMapUniform() {
        Arg.Ref bordered = nineOnes(twoOfThree(image()), 0.5);
        Arg.Ref limited = net.bind(new Clip(-100, 9), bordered);
        Function after = removed(net.requantize(pointwise(limited, 0), 0, 0.01, 0.01));
        assertThat(channels(after, limited)).isEqualTo(2);
    }

    @Test
    void hugeBiasesAndTinyScalesFollowTheReferenceArithmetic() {
        double scale = 5e-10;
        Arg.Ref sums = net.bias(net.conv(image(), POINT, 3, 0, 5, -7, 0, 0, 0, 0), 4, 1 << 30, -(1 << 30));
        Arg.Ref hidden = net.requantize(sums, ZERO, 0.01, scale, scale);
        Arg.Ref bias = net.bias(pointwise(hidden, 0), 0, 0);
        Function after = removed(net.requantize(bias, 0, 0.01, 0.01));
        assertThat(channels(after, hidden)).isEqualTo(1);
        QuantizedMultiplier by = QuantizedMultiplier.of(scale);
        int plus = ZERO + FixedPoint.multiplyByQuantizedMultiplier(1 << 30, by.multiplier(), by.shift());
        int minus = ZERO + FixedPoint.multiplyByQuantizedMultiplier(-(1 << 30), by.multiplier(), by.shift());
        assertThat(plus).isEqualTo(ZERO + 1);
        assertThat(ints(after.bindingsById().get(bias.id()).constant(1)))
                .containsExactly(2 * plus + 3 * minus, -5 * plus + 6 * minus);
    }

    @Test
    void aScaleTooSmallForAnyAccumulatorMakesAChannelConstant() {
        Arg.Ref sums = net.conv(image(), POINT, 2, 0, 5, -7, 90, 11);
        Arg.Ref hidden = net.requantize(sums, ZERO, 0.01, 1e-6);
        Arg.Ref out = net.requantize(net.conv(hidden, POINT, 1, 0, 7, 9), 0, 0.1);
        assertThat(channels(removed(out), hidden)).isEqualTo(1);
    }

    @Test
    void aBiasThatWouldNotFitIn32BitsKeepsTheChannel() {
        Arg.Ref hidden = twoOfThree(image());
        int full = Integer.MAX_VALUE - VALUE;
        Arg.Ref sums = net.bias(pointwise(hidden, 0), full, 0);
        assertThat(channels(removed(net.requantize(sums, 0, 1e-8, 0.01)), hidden))
                .isEqualTo(3);
    }

    @Test
    void everyReaderMustDoWithoutTheChannel() {
        Arg.Ref hidden = twoOfThree(image());
        Arg.Ref one = net.requantize(pointwise(hidden, 0), 0, 0.01, 0.02);
        Arg.Ref other = net.requantize(pointwise(hidden, 5), 0, 0.01, 0.02);
        assertThat(channels(removed(one, other), hidden)).isEqualTo(2);
        Arg.Ref shown = net.bind(new Clip(0, 100), hidden);
        assertThat(channels(removed(one, other, shown), hidden)).isEqualTo(3);
        assertThat(channels(removed(one, other, hidden), hidden)).isEqualTo(3);
    }

    @Test
    void aSumLosesAChannelOnlyIfBothSidesDo() {
        Arg.Ref image = image();
        Arg.Ref lhs = twoOfThree(image);
        Arg.Ref rhs = twoOfThree(image);
        Arg.Ref both = net.add(lhs, rhs, 0);
        Function after = removed(net.requantize(pointwise(both, 0), 0, 0.01, 0.02));
        assertThat(channels(after, lhs)).isEqualTo(2);
        assertThat(channels(after, rhs)).isEqualTo(2);

        Arg.Ref live = net.requantize(net.conv(image, POINT, 3, 0, 1, 2, 3, 4, 5, 6), 0, 0.1, 0.1, 0.1);
        Arg.Ref half = net.add(lhs, live, 0);
        assertThat(channels(removed(net.requantize(pointwise(half, 0), 0, 0.01, 0.02)), lhs))
                .isEqualTo(3);

        Arg.Ref shifted = net.add(lhs, NetBuilder.int8(Shape.of(1, 4, 1, 3), new int[12]), 0);
        assertThat(channels(removed(net.requantize(pointwise(shifted, 0), 0, 0.01, 0.02)), shifted))
                .isEqualTo(2);
    }

    @Test
    void poolsAndReshapesPassConstantsOn() {
        Arg.Ref pooled = net.bind(new AvgPool2d(Window.of(2, 2).strided(2, 2).padded(0, 1, 0, 0)), twoOfThree(image()));
        Arg.Ref flat = net.bind(new Reshape(Shape.of(1, 2 * 3 * 3)), pooled);
        int[] weights = IntStream.range(0, 2 * 18).map(i -> 50 - 3 * i).toArray();
        Arg.Ref sums = net.bias(net.dense(flat, 2, -128, weights), 7, 8);
        Function after = removed(net.requantize(sums, 0, 1e-3, 1e-3));
        assertThat(channels(after, pooled)).isEqualTo(2);
        assertThat(channels(after, flat)).isEqualTo(12);
    }

    @Test
    void channelsThatNobodyReadsGoAndWhatOnlyTheyReadGoesToo() {
        Arg.Ref first = net.requantize(net.conv(image(), POINT, 2, 0, 5, -7, 9, 11), 0, 0.1, 0.1);
        Arg.Ref second = net.requantize(net.conv(first, POINT, 2, 0, 5, 0, 9, 11), 0, 0.1, 0.1);
        Arg.Ref out = net.requantize(net.conv(second, POINT, 1, 0, 7, 0), 0, 0.1);
        Function after = removed(out);
        assertThat(channels(after, second)).isEqualTo(1);
        assertThat(channels(after, first)).isEqualTo(1);
    }

    @Test
    void oneChannelStaysWhereAllAreConstant() {
        Arg.Ref hidden =
                net.requantize(net.bias(net.conv(image(), SAME, 3, 0, new int[54]), 1, 2, 3), 0, 0.9, 0.9, 0.9);
        Arg.Ref deep = net.requantize(net.depthwise(hidden, POINT, 1, 0, 0, 0, 0), 0, 0.9, 0.9, 0.9);
        Function after = removed(net.requantize(pointwise(deep, 0), 0, 0.9, 0.9));
        assertThat(channels(after, hidden)).isEqualTo(1);
        assertThat(channels(after, deep)).isEqualTo(1);
    }

    @Test
    void aDepthwiseLayerLeftWithOneChannelIsAnOrdinaryOne() {
        Arg.Ref hidden = net.requantize(net.conv(image(), POINT, 2, 0, 5, -7, 0, 0), 0, 0.1, 0.1);
        int[] weights = IntStream.range(0, 9 * 4).map(i -> i * i - 300 - 7 * i).toArray();
        Arg.Ref sums = net.depthwise(hidden, SAME, 2, 0, weights);
        Arg.Ref deep = net.requantize(sums, 0, 0.01, 0.02, 0.03, 0.04);
        Function after = removed(net.requantize(net.conv(deep, POINT, 1, 0, 1, 2, 3, 4), 0, 0.1));
        QnnConv2d conv = (QnnConv2d) after.bindingsById().get(sums.id()).op();
        assertThat(conv).isEqualTo(new QnnConv2d(SAME, 1, 2, "OHWI"));
    }

    @Test
    void groupsOfChannelsStayAsTheyAre() {
        Arg.Ref hidden = net.requantize(net.conv(image(), POINT, 4, 0, 5, -7, 0, 0, 1, 2, 0, 0), 0, 0.1, 0.1, 0.1, 0.1);
        Arg.Ref grouped = net.bind(
                new QnnConv2d(POINT, 2, 2, "OHWI"),
                hidden,
                NetBuilder.int8(Shape.of(2, 1, 1, 2), 1, 2, 3, 4),
                Constant.scalar(0),
                Constant.scalar(0),
                Constant.scalar(1f),
                Constant.scalar(1f));
        Arg.Ref out = net.requantize(grouped, 0, 0.1, 0.1);
        assertThat(removed(out)).isEqualTo(net.function(out));
    }
}
