// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Optimize;
import io.kiln.codegen.c.LoopAnswer;
import io.kiln.codegen.c.LoopProgram;
import io.kiln.draw.FunctionDraw;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.schedule.Dispatch;
import io.kiln.target.Target;
import io.kiln.target.TestTargets;
import io.kiln.transform.Pipeline;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sums of floats in integers, as C on this machine, against exact arithmetic. */
class SoftSumsTest {
    private static final int ROUNDS = 9;

    /** Rounds from this one on are of few products. */
    private static final int FIRST_OF_FEW = 6;

    private static final int ROWS = 10;
    private static final int UNITS = 6;

    /** What inputs and weights are. */
    private enum Kind {
        USUAL,
        SPARSE,
        SPREAD,
        CANCELLING,
        /** As large as a channel's sum of weights can be. */
        EVEN,
        TINY,
        /** Sums a little below the least normal float. */
        LEAST_NORMAL,
        HUGE,
        INFINITE
    }

    /** A layer with its inputs: a dense one, or a depthwise convolution of one column whose channels all have the same inputs. */
    private static final class Layer {
        private final boolean isDepthwise;
        private final int taps;
        private final float high;
        private final float[] inputs;
        private final float[] weights;
        private final float[] bias;

        /** Draws one; of three results one is at most 0.5. */
        private Layer(Random random, Kind kind, boolean isDepthwise, int taps) {
            this.isDepthwise = isDepthwise;
            this.taps = taps;
            this.high = random.nextInt(3) == 0 ? 0.5f : Float.POSITIVE_INFINITY;
            this.inputs = new float[ROWS * taps];
            this.weights = new float[UNITS * taps];
            this.bias = new float[UNITS];
            for (int i = 0; i < inputs.length; i++) {
                boolean isCancelled = kind == Kind.CANCELLING && i % 2 == 1;
                inputs[i] = isCancelled ? -inputs[i - 1] : input(random, kind, i % taps);
            }
            for (int i = 0; i < weights.length; i++) {
                boolean isCancelled = kind == Kind.CANCELLING && i % 2 == 1 && random.nextInt(50) > 0;
                weights[i] = isCancelled ? weights[i - 1] : weight(random, kind, i % taps);
            }
            for (int i = 0; i < UNITS; i++) {
                boolean hasNone = i % 3 == 0 || kind == Kind.LEAST_NORMAL;
                bias[i] = hasNone ? 0 : weight(random, kind, 0) * input(random, Kind.USUAL, 0);
            }
        }
    }

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {TestTargets.M3, TestTargets.M0, TestTargets.RV32})
    void errorsAreAtMostThoseOfSumsOfFloats(String target) {
        Random random = new Random(5);
        Dispatch dispatch = new Dispatch(Target.parse(target), Optimize.SPEED);
        LoopProgram program = LoopProgram.checkingArithmetic();
        List<Layer> layers = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            for (Kind kind : Kind.values()) {
                boolean isDepthwise = round % 3 == 1;
                int most = round == 0 ? 3000 : round % 2 == 0 ? 700 : 12;
                int taps = round < FIRST_OF_FEW ? 6 + random.nextInt(most) : 1 + random.nextInt(6);
                Layer layer = new Layer(random, kind, isDepthwise, taps);
                LoweringCase c = lowered(layer);
                LoweredOperator lowered =
                        dispatch.lower(c.op(), Rows.whole(c.op().type().shape()));
                assertThat(lowered.schedule()).startsWith(isDepthwise ? "soft_depthwise" : "soft_conv");
                program.add(c.whole(lowered).run());
                layers.add(layer);
            }
        }
        List<LoopAnswer> answers = program.run(folder);
        for (int i = 0; i < layers.size(); i++) {
            assertThat(answers.get(i).failures()).isEmpty();
            check(layers.get(i), answers.get(i).outputs().get(0).buffer());
        }
    }

    private static float input(Random random, Kind kind, int tap) {
        float value = (float) random.nextGaussian();
        return switch (kind) {
            case USUAL, CANCELLING -> value;
            case SPARSE -> random.nextInt(4) == 0 ? Math.max(0, value) : 0;
            case SPREAD -> Math.scalb(value, random.nextInt(160) - 110);
            case EVEN -> 2 - Math.abs(Math.scalb(value, -6));
            case TINY -> Math.scalb(value, random.nextInt(40) - 150);
            case LEAST_NORMAL -> tap == 0 ? 0x1p-100f : tap == 1 ? 0x1p-120f : 0;
            case HUGE -> Math.scalb(value, random.nextInt(12) + 105);
            case INFINITE ->
                switch (random.nextInt(200)) {
                    case 0 -> Float.POSITIVE_INFINITY;
                    case 1 -> Float.NEGATIVE_INFINITY;
                    case 2 -> Float.NaN;
                    default -> value;
                };
        };
    }

    private static float weight(Random random, Kind kind, int tap) {
        float value = (float) random.nextGaussian();
        return switch (kind) {
            case SPREAD -> Math.scalb(value, -random.nextInt(60));
            case EVEN -> random.nextInt(40) == 0 ? 0x1.ffffffp0f : 0x1.fffff8p0f;
            case TINY -> Math.scalb(value, random.nextInt(30));
            case LEAST_NORMAL -> tap == 0 ? 0x1p-26f : tap == 1 ? -0x1p-32f : 0x1p-30f;
            case SPARSE -> random.nextInt(5) == 0 ? 0 : value;
            case INFINITE -> random.nextInt(5) == 0 ? 0 : Math.scalb(value, random.nextInt(2) * -70);
            case USUAL, CANCELLING, HUGE -> value;
        };
    }

    private static LoweringCase lowered(Layer layer) {
        FunctionDraw draw = new FunctionDraw(0);
        float[] inputs = layer.isDepthwise ? repeated(layer.inputs) : layer.inputs;
        Arg.Ref sums = layer.isDepthwise ? depthwise(layer, draw) : dense(layer, draw);
        Arg.Ref biased = draw.bind(new BiasAdd(-1), sums, constant(layer.bias, UNITS));
        if (Float.isFinite(layer.high)) {
            draw.bind(new Clip(-Float.MAX_VALUE, layer.high), biased);
        }
        Function function = Pipeline.standard().run(draw.function("layer"));
        FusedOperator op = FusedOperator.all(function, "tvmgen_case").get(0);
        Bytes unknown = bytes(new float[ROWS * UNITS]);
        return new LoweringCase(function, op, List.of(bytes(inputs)), unknown);
    }

    private static Arg.Ref dense(Layer layer, FunctionDraw draw) {
        Arg.Ref in = draw.parameter(Shape.of(ROWS, layer.taps), DType.FLOAT32);
        return draw.bind(new Dense(UNITS), in, constant(layer.weights, UNITS, layer.taps));
    }

    private static Arg.Ref depthwise(Layer layer, FunctionDraw draw) {
        Arg.Ref in = draw.parameter(Shape.of(ROWS, layer.taps, 1, UNITS), DType.FLOAT32);
        float[] weights = new float[layer.weights.length];
        for (int i = 0; i < weights.length; i++) {
            weights[i % layer.taps * UNITS + i / layer.taps] = layer.weights[i];
        }
        Conv2d conv = new Conv2d(Window.of(layer.taps, 1), UNITS, UNITS, "HWOI");
        return draw.bind(conv, in, constant(weights, layer.taps, 1, UNITS, 1));
    }

    /** The same number for each channel. */
    private static float[] repeated(float[] inputs) {
        float[] repeated = new float[inputs.length * UNITS];
        for (int i = 0; i < repeated.length; i++) {
            repeated[i] = inputs[i / UNITS];
        }
        return repeated;
    }

    private static Constant constant(float[] values, int... shape) {
        return new Constant("weight", new TensorType(Shape.of(shape), DType.FLOAT32), bytes(values));
    }

    private static Bytes bytes(float[] values) {
        ByteBuffer data = ByteBuffer.allocate(Float.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        data.asFloatBuffer().put(values);
        return Bytes.wrap(data.array());
    }

    private static void check(Layer layer, ByteBuffer answer) {
        for (int row = 0; row < ROWS; row++) {
            for (int unit = 0; unit < UNITS; unit++) {
                float actual = answer.getFloat(Float.BYTES * (row * UNITS + unit));
                check(layer, row * layer.taps, unit, actual);
            }
        }
    }

    /** A float sum of n products and a start errs by (n + 1) / 2^24 of the magnitudes; tiny weights beside large ones lose bits. */
    private static void check(Layer layer, int first, int unit, float actual) {
        BigDecimal sum = new BigDecimal(layer.bias[unit]);
        BigDecimal magnitude = sum.abs();
        BigDecimal inputs = BigDecimal.ZERO;
        double special = 0;
        float largest = 0;
        for (int i = 0; i < layer.taps; i++) {
            float x = layer.inputs[first + i];
            float w = layer.weights[unit * layer.taps + i];
            if (!Float.isFinite(x)) {
                special += (double) x * w;
                continue;
            }
            BigDecimal product = new BigDecimal(x).multiply(new BigDecimal(w));
            sum = sum.add(product);
            magnitude = magnitude.add(product.abs());
            inputs = inputs.add(new BigDecimal(x).abs());
            largest = Math.max(largest, Math.abs(w));
        }
        if (special != 0) {
            float limited = special > layer.high ? layer.high : (float) special;
            assertThat(Float.compare(actual, limited))
                    .as("%s in place of %s", actual, limited)
                    .isZero();
            return;
        }
        BigDecimal bound = magnitude
                .multiply(new BigDecimal((layer.taps + 1) * 0x1p-24))
                .add(inputs.multiply(new BigDecimal(largest * 0x1p-46)))
                .add(new BigDecimal(Float.MIN_VALUE));
        check(layer, sum, bound, actual);
    }

    private static void check(Layer layer, BigDecimal sum, BigDecimal bound, float actual) {
        if (!Float.isFinite(actual)) {
            assertThat(sum.abs().add(bound)).isGreaterThan(new BigDecimal(Float.MAX_VALUE));
            assertThat(Math.signum(actual)).isEqualTo(sum.signum());
            return;
        }
        assertThat(actual).isLessThanOrEqualTo(layer.high);
        if (actual == layer.high) {
            assertThat(sum.add(bound)).isGreaterThanOrEqualTo(new BigDecimal(layer.high));
            return;
        }
        assertThat(sum.subtract(new BigDecimal(actual)).abs())
                .as("%s in place of %s, %d products", actual, sum.round(MathContext.DECIMAL64), layer.taps)
                .isLessThanOrEqualTo(bound);
    }
}
