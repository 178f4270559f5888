// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Quantization;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.FloatNet;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.quantize.plan.Plan.PlannedNode;
import io.kiln.quantize.plan.Planner.Wishes;
import io.kiln.quantize.plan.QuantizedConstants.LayerConstants;
import io.kiln.quantize.range.Calibration.Statistics;
import io.kiln.quantize.range.ValueRange;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlannerTest {
    private static final Window POINT = Window.of(1, 1);

    private final FloatNet net = new FloatNet(1);
    private final Map<Integer, ValueRange> ranges = new HashMap<>();

    private Arg.Ref ranged(Arg.Ref value, float min, float max) {
        ranges.put(value.id(), new ValueRange(min, max));
        return value;
    }

    private Plan plan(Precision precision, Map<Integer, Precision> others, Arg.Ref... results) {
        Function function = net.function(results);
        return new Planner(FloatGraph.of(function), new Statistics(ranges, Map.of(), Map.of()))
                .plan(new Wishes(precision, others, false));
    }

    private static PlannedNode node(Plan plan, Arg.Ref output) {
        return plan.nodes().stream()
                .filter(node -> node.node().output() == output.id())
                .findFirst()
                .orElseThrow();
    }

    private static Quantization output(Plan plan, Arg.Ref value) {
        return node(plan, value).output().quantization().orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({"-1,1,-1", "0,2.55,-128", "-2.55,0,127", "1,2.55,-128", "-1,4.1,-78", "0,0,-128"})
    void int8ScalesAndZeroPoints(float min, float max, int zeroPoint) {
        Quantization quantization = ScaleGroups.quantization(Precision.INT8, new ValueRange(min, max));
        assertThat(quantization.zeroPoint()).isEqualTo(zeroPoint);
        float span = Math.max(max, 0) - Math.min(min, 0);
        assertThat(quantization.scale()).isCloseTo(span == 0 ? 1f / 255 : span / 255, within(1e-7f));
    }

    @Test
    void int16ScalesAreSymmetric() {
        assertThat(ScaleGroups.quantization(Precision.INT16, new ValueRange(-1, 32.767f)))
                .isEqualTo(new Quantization(32.767f / 32767, 0));
    }

    @Test
    void movedElementsKeepTheirScaleAndFixedOnesAreFixed() {
        Arg.Ref in = ranged(net.input(1, 2, 2, 3), -1, 1);
        Arg.Ref conv = ranged(net.conv(in, POINT, 2), -2, 3);
        Arg.Ref flat = ranged(net.bind(new Reshape(Shape.of(1, 8)), conv), -2, 3);
        Arg.Ref softmax = ranged(net.bind(new Softmax(1), flat), 0, 1);
        Plan plan = plan(Precision.INT8, Map.of(), softmax);
        assertThat(output(plan, flat)).isEqualTo(output(plan, conv));
        assertThat(output(plan, softmax)).isEqualTo(new Quantization(1f / 256, -128));
        assertThat(plan.border().outputs().get(0)).isEqualTo(node(plan, softmax).output());
    }

    @Test
    void partsThatNothingElseReadsTakeTheScaleOfTheWhole() {
        Arg.Ref in = ranged(net.input(1, 2, 2, 3), -1, 1);
        Arg.Ref narrow = ranged(net.conv(in, POINT, 2), -0.1f, 0.1f);
        Arg.Ref wide = ranged(net.conv(in, POINT, 2), -4, 4);
        Arg.Ref logistic = ranged(net.bind(new Unary(Unary.Kind.SIGMOID), wide), 0, 1);
        Arg.Ref joined = ranged(net.bind(new Concatenate(3, 4), narrow, wide, logistic, in), -4, 4);
        Plan plan = plan(Precision.INT8, Map.of(), joined);
        Quantization whole = output(plan, joined);
        assertThat(output(plan, narrow)).isEqualTo(whole);
        assertThat(whole.scale()).isEqualTo(8f / 255);
        // Two operators read the wide part; the others are fixed, or an input.
        assertThat(output(plan, logistic)).isEqualTo(new Quantization(1f / 256, -128));
        assertThat(node(plan, joined).data()).containsOnly(node(plan, joined).output());
        assertThat(plan.border()
                        .inputs()
                        .get(in.id())
                        .quantization()
                        .orElseThrow()
                        .scale())
                .isEqualTo(2f / 255);
    }

    @Test
    void anOperatorWithoutIntegerFormStaysFloatWithWhatOnlyMovesItsResult() {
        Arg.Ref in = ranged(net.input(1, 2, 2, 3), -1, 1);
        Arg.Ref exp = ranged(net.bind(new Unary(Unary.Kind.EXP), net.conv(in, POINT, 2)), 0, 9);
        Arg.Ref flat = ranged(net.bind(new Reshape(Shape.of(1, 8)), exp), 0, 9);
        Arg.Ref dense = ranged(net.dense(flat, 2), -1, 1);
        Plan plan = plan(Precision.INT8, Map.of(), dense);
        assertThat(node(plan, exp).precision()).isEqualTo(Precision.FLOAT);
        assertThat(node(plan, flat).precision()).isEqualTo(Precision.FLOAT);
        assertThat(node(plan, dense).data().get(0).quantization().orElseThrow().scale())
                .isEqualTo(9f / 255);
    }

    @Test
    void aSingleLayerMayHaveAnotherPrecision() {
        Arg.Ref in = ranged(net.input(1, 2, 2, 3), -1, 1);
        Arg.Ref first = ranged(net.conv(in, POINT, 2), -2, 2);
        Arg.Ref second = ranged(net.conv(first, POINT, 2), -3, 3);
        Plan plan = plan(Precision.INT8, Map.of(second.id(), Precision.INT16), second);
        assertThat(node(plan, first).output().dtype()).isEqualTo(DType.INT8);
        assertThat(node(plan, second).data().get(0).quantization()).contains(new Quantization(2f / 32767, 0));
        assertThat(node(plan, second)
                        .constants()
                        .orElseThrow()
                        .bias()
                        .orElseThrow()
                        .type()
                        .dtype())
                .isEqualTo(DType.INT64);
        assertThat(plan.border().outputs().get(0).dtype()).isEqualTo(DType.INT8);
    }

    @Test
    void weightsHaveAScalePerChannelAndThoseOfADenseLayerOne() {
        Arg.Ref in = ranged(net.input(1, 1, 1, 2), -1, 1);
        Constant weights = Constant.vector(1f, -2f, 0.5f, 0.25f);
        Arg.Ref conv = ranged(net.bind(new Conv2d(POINT, 1, 2, "OHWI"), in, shaped(weights, 2, 1, 1, 2)), -3, 3);
        Arg.Ref flat = ranged(net.bind(new Reshape(Shape.of(1, 2)), conv), -3, 3);
        Arg.Ref dense = ranged(net.bind(new Dense(2), flat, shaped(weights, 2, 2)), -3, 3);
        Plan plan = plan(Precision.INT8, Map.of(), dense);
        LayerConstants channels = node(plan, conv).constants().orElseThrow();
        assertThat(channels.scales()).containsExactly(2f / 127, 0.5f / 127);
        assertThat(integers(channels.weights())).containsExactly(64L, -127L, 127L, 64L);
        LayerConstants tensor = node(plan, dense).constants().orElseThrow();
        assertThat(tensor.scales()).containsExactly(2f / 127);
        assertThat(integers(tensor.weights())).containsExactly(64L, -127L, 32L, 16L);
    }

    @Test
    void aBiasThatWouldNotFitWidensTheScaleOfItsWeights() {
        Arg.Ref in = ranged(net.input(1, 1, 1, 1), -1, 1);
        Constant weights = shaped(Constant.vector(1e-12f, 0f), 2, 1, 1, 1);
        Arg.Ref sums = net.bind(new Conv2d(POINT, 1, 2, "OHWI"), in, weights);
        Arg.Ref conv = ranged(net.bind(new BiasAdd(3), sums, Constant.vector(5f, -3f)), -3, 5);
        LayerConstants constants =
                node(plan(Precision.INT8, Map.of(), conv), conv).constants().orElseThrow();
        float input = 2f / 255;
        for (int c = 0; c < 2; c++) {
            double real = constants.bias().orElseThrow().integer(c)
                    * (double) input
                    * constants.scales().get(c);
            assertThat(real).isCloseTo(c == 0 ? 5 : -3, within(1e-5));
        }
        assertThat(constants.bias().orElseThrow().integer(0)).isCloseTo(1L << 30, within(1000L));
    }

    @Test
    void aChannelWithoutWeightsHasAScale() {
        Arg.Ref in = ranged(net.input(1, 1, 1, 1), -1, 1);
        Arg.Ref conv =
                ranged(net.bind(new Conv2d(POINT, 1, 1, "OHWI"), in, shaped(Constant.vector(0f), 1, 1, 1, 1)), 0, 0);
        LayerConstants constants =
                node(plan(Precision.INT8, Map.of(), conv), conv).constants().orElseThrow();
        assertThat(constants.scales().get(0)).isPositive();
        assertThat(integers(constants.weights())).containsExactly(0L);
    }

    private static Constant shaped(Constant vector, int... shape) {
        return new Constant("w", new TensorType(Shape.of(shape), vector.type().dtype()), vector.data());
    }

    private static List<Long> integers(Constant constant) {
        return IntStream.range(0, constant.elements())
                .mapToObj(constant::integer)
                .toList();
    }

    @Test
    void scalesGiveTheSameMultiplierInSingleAndInDoublePrecision() {
        Arg.Ref in = ranged(net.input(1, 2, 2, 2), -1, 1);
        Arg.Ref first = ranged(net.conv(in, POINT, 2), -1.7f, 2.3f);
        Arg.Ref second = ranged(net.conv(in, POINT, 2), -0.3f, 0.9f);
        Arg.Ref product = ranged(net.bind(new Binary(Binary.Kind.MULTIPLY), first, second), -1, 1.9f);
        Arg.Ref difference = ranged(net.bind(new Binary(Binary.Kind.SUBTRACT), product, second), -1.1f, 1.3f);
        Plan plan = plan(Precision.INT16, Map.of(), difference);
        float a = output(plan, first).scale();
        float b = output(plan, second).scale();
        float out = output(plan, product).scale();
        assertThat(QuantizedMultiplier.of(a * b / out)).isEqualTo(QuantizedMultiplier.of((double) a * b / out));
        float result = output(plan, difference).scale();
        assertThat(TflAddParameters.ofDifference(DType.INT16, out, b, result))
                .isEqualTo(TflAddParameters.of(DType.INT16, out, b, result));
        assertThat(out).isNotEqualTo(1.9f / 32767).isCloseTo(1.9f / 32767, within(1e-6f / 32767 * 1000));
    }

    @Test
    void scalesOfASumAreNoPowersOfTwo() {
        Arg.Ref in = ranged(net.input(1, 2, 2, 2), -1, 1);
        Arg.Ref first = ranged(net.conv(in, POINT, 2), -0.99997f, 0);
        Arg.Ref sum = ranged(net.bind(new Binary(Binary.Kind.ADD), first, first), -1.99994f, 0);
        Plan plan = plan(Precision.INT16, Map.of(), sum);
        assertThat(output(plan, sum).scale()).isBetween(2.0015f / 32768, 2.002f / 32768);
    }

    @Test
    void anOperatorWhoseArithmeticDoesNotHoldItsScalesStaysFloat() {
        Arg.Ref in = ranged(net.input(1, 2, 2, 2), -1, 1);
        Arg.Ref wide = ranged(net.conv(in, POINT, 2), -300, 300);
        Arg.Ref logistic = ranged(net.bind(new Unary(Unary.Kind.SIGMOID), wide), 0, 1);
        Arg.Ref nothing = ranged(net.bind(new Binary(Binary.Kind.SUBTRACT), wide, wide), -1e-9f, 1e-9f);
        Plan plan = plan(Precision.INT8, Map.of(), logistic, nothing);
        assertThat(node(plan, wide).precision()).isEqualTo(Precision.INT8);
        assertThat(node(plan, logistic).precision()).isEqualTo(Precision.FLOAT);
        assertThat(node(plan, nothing).precision()).isEqualTo(Precision.FLOAT);
    }
}
