// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.NamedTensor;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.base.Optimize;
import io.kiln.frontend.relay.RelayFrontend;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.lower.RandomOperators;
import io.kiln.reference.Interpreter;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Text behind TVM's canonicalisation of {@code qnn} operators answers as the operators that it spells out, and so does its C. */
class CanonicalTextTest {
    private static final List<String> TARGETS = List.of(
            "c -keys=cpu",
            "c -keys=arm_cpu,cpu -mcpu=cortex-m4",
            "c -keys=arm_cpu,cpu -mcpu=cortex-m55",
            "c -keys=cpu -march=rv32imac");

    @TempDir
    private Path folder;

    private final Random random = new Random(5);
    private final List<NamedTensor> params = new ArrayList<>();
    private final List<ModelMetadata> models = new ArrayList<>();
    private final List<List<Artifact>> artifacts = new ArrayList<>();
    private final List<Bytes> inputs = new ArrayList<>();
    private final ByteArrayOutputStream expected = new ByteArrayOutputStream();

    @Test
    void theirAnswersAreThoseOfTheOperators() {
        param("w", DType.INT8, 3, 2, 5, 4);
        param("d", DType.INT8, 3, 3, 4, 1);
        param("o", DType.INT8, 4, 1, 3, 3);
        param("f", DType.INT8, 6, 12);
        param("b", DType.INT32, 4);
        multipliers("", 0.0009f, 0.0031f, 0.0005f, 0.002f);
        multipliers("u", 0.7f, 1.9f, 1.2f, 3.4f);
        layers();
        depthwise();
        shifted();
        roundedAway();
        elements();
        bytes();
        floats();
        assertThat(HostProgram.build(folder, models, artifacts).run(inputs).toArray())
                .isEqualTo(expected.toByteArray());
    }

    private static final String SUM = """
          %3 = reshape(sum(cast(%w, dtype="int32") /* ty=Tensor[(3, 2, 5, 4), int32] */, axis=[0, 1, 2]), newshape=[1, 1, 1, 4]);
        """;

    private static final String PER_AXIS = """
          %7 = fixed_point_multiply_per_axis(%6, %m, %l, %r, is_rshift_required=True, axes=[3]) /* ty=Tensor[(1, 4, 5, 4), int32] */;
          %8 = add(-7 /* ty=int32 */, %7) /* ty=Tensor[(1, 4, 5, 4), int32] */;
          %9 = clip(%8, a_min=-128f, a_max=127f);
          cast(%9, dtype="int8")
        }
        """;

    private static final String CONV = """
        def @main(%x: Tensor[(1, 4, 5, 5), int8], %w: Tensor[(3, 2, 5, 4), int8], %b: Tensor[(4), int32], %s: Tensor[(4), float32]) {
          %0 = qnn.conv2d(%x, %w, -9, KZP, 1f, 1f, padding=[1, 0, 1, 1], channels=4, kernel_size=[3, 2], data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
          %1 = nn.bias_add(%0, %b, axis=3);
          qnn.requantize(%1, %s, 0, 1f, -7, axis=3, rounding="ROUND", out_dtype="int8")
        }
        """;

    private static final String HEADER = """
        def @main(%x: Tensor[(1, 4, 5, 5), int8], %w: Tensor[(3, 2, 5, 4), int8], %b: Tensor[(4), int32], %m: Tensor[(4), int32], %l: Tensor[(4), int32], %r: Tensor[(4), int32]) {
        """;

    private void layers() {
        String qnn = CONV.replace("ROUND", "UPWARD");
        Function whole = same("conv", qnn.replace("KZP", "0"), HEADER + """
              %0 = nn.pad(%x, -9 /* ty=int32 span=a;b/c:0:0 */, pad_width=[[0, 0], [1, 1], [0, 1], [0, 0]]) /* ty=Tensor[(1, 6, 6, 5), int8] */;
              %2 = nn.conv2d(%0, %w, padding=[0, 0, 0, 0], channels=4, kernel_size=[3, 2], data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
            """ + SUM + """
              %4 = multiply(-9, %3);
              %5 = subtract(%2, %4);
              %6 = nn.bias_add(%5, %b, axis=3);
            """ + PER_AXIS);
        assertThat(operators(whole)).containsExactly("qnn.conv2d", "nn.bias_add", "tfl.requantize");
        assertThat(RelayPrinter.astext(whole))
                .contains("fixed_point_multiply_per_axis(")
                .doesNotContain(" tfl.");
        same("zero", qnn.replace("KZP", "3"), HEADER + """
              %0 = nn.pad(%x, -9, pad_width=[[0, 0], [1, 1], [0, 1], [0, 0]]);
              %1 = sum(cast(%0, dtype="int32"), axis=[3], keepdims=True);
              %20 = nn.avg_pool2d(multiply(%1, 6), pool_size=[3, 2], padding=[0, 0, 0, 0], layout="NHWC");
              %21 = nn.conv2d(%0, %w, padding=[0, 0, 0, 0], channels=4, kernel_size=[3, 2], data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
              %22 = subtract(%21, multiply(3, %20));
            """ + SUM + """
              %5 = add(%22, subtract(-810, multiply(-9, %3)));
              %6 = nn.bias_add(%5, %b, axis=3);
            """ + PER_AXIS);
        Function legal = same("legal", qnn.replace("KZP", "3"), HEADER + """
              %0 = subtract(cast(%x, dtype="int16"), -9i16);
              %1 = subtract(cast(%w, dtype="int16"), cast(3, dtype="int16"));
              %2 = nn.conv2d(%0, %1, padding=[1, 0, 1, 1], channels=4, kernel_size=[3, 2], data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
              %6 = nn.bias_add(%2, %b, axis=3);
            """ + PER_AXIS);
        assertThat(operators(legal)).containsExactly("qnn.conv2d", "nn.bias_add", "tfl.requantize");
        Function dense = same(
                "dense", """
                def @main(%x: Tensor[(2, 12), int8], %f: Tensor[(6, 12), int8]) {
                  %0 = qnn.dense(%x, %f, 5, 0, 1f, 1f, units=6, out_dtype="int32");
                  qnn.requantize(%0, 0.0021f, 0, 1f, 3, out_dtype="int8")
                }
                """, """
                def @main(%x: Tensor[(2, 12), int8], %f: Tensor[(6, 12), int8]) {
                  %0 = nn.dense(%x, %f, units=6, out_dtype="int32");
                  %1 = multiply(5, sum(cast(%f, dtype="int32"), axis=[1]));
                  %2 = subtract(%0, %1);
                  %3 = fixed_point_multiply(%2, multiplier=MULTIPLIER, shift=SHIFT);
                  cast(clip(add(3, %3), a_min=-128f, a_max=127f), dtype="int8")
                }
                """.replace("MULTIPLIER", multiplier(0.0021f)).replace("SHIFT", shift(0.0021f)));
        assertThat(operators(dense)).containsExactly("qnn.dense", "nn.bias_add", "tfl.requantize");
    }

    private void depthwise() {
        String qnn = """
            def @main(%x: Tensor[(1, 5, 6, 4), int8], %d: Tensor[(3, 3, 4, 1), int8], %us: Tensor[(4), float32]) {
              %0 = qnn.conv2d(%x, %d, 11, 0, 1f, 1f, strides=[2, 1], padding=[1, 1, 1, 1], groups=4, channels=4, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWOI", out_dtype="int32");
              %1 = qnn.requantize(%0, %us, 0, 90f, 0, axis=3, out_dtype="int8");
              nn.relu(%1)
            }
            """;
        params.addAll(ratios("v", 0.7f / 90.0, 1.9f / 90.0, 1.2f / 90.0, 3.4f / 90.0));
        Function function = same("depthwise", qnn, """
            def @main(%x: Tensor[(1, 5, 6, 4), int8], %d: Tensor[(3, 3, 4, 1), int8], %vm: Tensor[(4), int32], %vl: Tensor[(4), int32], %vr: Tensor[(4), int32]) {
              %0 = nn.pad(%x, 11, pad_width=[[0, 0], [1, 1], [1, 1], [0, 0]]);
              %1 = nn.conv2d(%0, %d, strides=[2, 1], padding=[0, 0, 0, 0], groups=4, channels=4, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWOI", out_dtype="int32");
              %2 = reshape(sum(cast(%d, dtype="int32"), axis=[0, 1, 3]), newshape=[1, 1, 1, 4]);
              %3 = subtract(%1, multiply(11, %2));
              %4 = fixed_point_multiply_per_axis(%3, %vm, %vl, %vr, is_lshift_required=True, is_rshift_required=True, axes=[3]);
              cast(clip(%4, a_min=0f, a_max=127f), dtype="int8")
            }
            """);
        assertThat(operators(function)).containsExactly("qnn.conv2d", "nn.bias_add", "tfl.requantize", "clip");
        same("nchw", """
            def @main(%x: Tensor[(1, 1, 6, 6), int8], %o: Tensor[(4, 1, 3, 3), int8], %b: Tensor[(4), int32], %s: Tensor[(4), float32]) {
              %0 = qnn.conv2d(%x, %o, 4, 0, 1f, 1f, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3], out_dtype="int32");
              %1 = nn.bias_add(%0, %b);
              %2 = qnn.requantize(%1, %s, 0, 1f, -7, axis=1, out_dtype="int8");
              nn.batch_flatten(%2)
            }
            """, """
            def @main(%x: Tensor[(1, 1, 6, 6), int8], %o: Tensor[(4, 1, 3, 3), int8], %b: Tensor[(4), int32], %m: Tensor[(4), int32], %l: Tensor[(4), int32], %r: Tensor[(4), int32]) {
              %0 = nn.pad(%x, 4, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]);
              %1 = nn.conv2d(%0, %o, padding=[0, 0, 0, 0], channels=4, kernel_size=[3, 3], out_dtype="int32");
              %2 = reshape(sum(cast(%o, dtype="int32"), axis=[1, 2, 3]), newshape=[1, 4, 1, 1]);
              %3 = subtract(%1, multiply(4, %2));
              %4 = add(%3, expand_dims(%b, axis=1, num_newaxis=2));
              %5 = fixed_point_multiply_per_axis(%4, %m, %l, %r, is_rshift_required=True, axes=[1]);
              %6 = cast(clip(add(-7, %5), a_min=-128f, a_max=127f), dtype="int8");
              nn.batch_flatten(%6)
            }
            """);
    }

    /** Ratios above 1 are computed as they stand, and where bytes bear them they are one operator. */
    private void shifted() {
        Function function = same("ratio", """
            def @main(%x: Tensor[(1, 3, 3, 4), int8], %us: Tensor[(4), float32]) {
              qnn.requantize(%x, %us, 6, 1f, -2, axis=3, out_dtype="int8")
            }
            """, """
            def @main(%x: Tensor[(1, 3, 3, 4), int8], %um: Tensor[(4), int32], %ul: Tensor[(4), int32], %ur: Tensor[(4), int32]) {
              %0 = subtract(cast(%x, dtype="int32"), 6);
              %1 = fixed_point_multiply_per_axis(%0, %um, %ul, %ur, is_lshift_required=True, is_rshift_required=True, axes=[3]);
              cast(clip(add(-2, %1), a_min=-128f, a_max=127f), dtype="int8")
            }
            """);
        assertThat(operators(function)).containsExactly("tfl.requantize");
        Function wide = read("wide", """
            def @main(%x: Tensor[(1, 9), int32]) {
              %0 = fixed_point_multiply(%x, multiplier=1610612736, shift=3) /* ty=Tensor[(1, 9), int32] */;
              cast(clip(right_shift(left_shift(%0, 2), 4), a_min=-128f, a_max=127f), dtype="int8")
            }
            """);
        add(wide);
        assertThat(operators(wide)).contains("fixed_point_multiply", "left_shift", "right_shift", "tfl.cast");
        Bytes input = inputs.get(inputs.size() - 1);
        byte[] answer = Interpreter.run(wide, List.of(input)).get(0).toArray();
        for (int i = 0; i < answer.length; i++) {
            int product = (int) (((long) input.buffer().getInt(4 * i) * 1610612736 + (1L << 27)) >> 28);
            assertThat(answer[i]).isEqualTo((byte) Math.max(-128, Math.min(127, (product << 2) >> 4)));
        }
    }

    private void roundedAway() {
        String spelled = """
              %6 = nn.bias_add(%2, %b, axis=3);
              %7 = cast(%6, dtype="int64") /* ty=Tensor[(1, 4, 5, 4), int64] */;
              %8 = multiply(%7, MULTIPLIER);
              %9 = zeros(shape=[1, 4, 5, 4], dtype="int64");
              %10 = greater_equal(%8, %9) /* ty=Tensor[(1, 4, 5, 4), bool] */;
              %11 = POS;
              %12 = NEG;
              %13 = where(%10, %11, %12);
              %14 = add(%8, %13);
              %15 = right_shift(%14, TOTAL);
              %16 = cast(%15, dtype="int32");
              %17 = add(-7, %16);
              cast(clip(%17, a_min=-128f, a_max=127f), dtype="int8")
            }
            """;
        String conv = HEADER + """
              %1 = subtract(cast(%x, dtype="int16"), -9i16);
              %2 = nn.conv2d(%1, %w, padding=[1, 0, 1, 1], channels=4, kernel_size=[3, 2], data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
            """;
        int total = 31 - Integer.parseInt(shift(0.002f));
        String qnn = CONV.replace("ROUND", "TONEAREST").replace("KZP", "0");
        Function one = same(
                "away",
                qnn.replace("%s,", "0.002f,"),
                conv
                        + spelled.replace("MULTIPLIER", multiplier(0.002f) + "i64")
                                .replace(
                                        "POS",
                                        "full(" + (1L << (total - 1)) + "i64, shape=[1, 4, 5, 4], dtype=\"int64\")")
                                .replace(
                                        "NEG",
                                        "full(" + ((1L << (total - 1)) - 1)
                                                + "i64, shape=[1, 4, 5, 4], dtype=\"int64\")")
                                .replace("TOTAL", total + "i64"));
        assertThat(operators(one)).containsExactly("qnn.conv2d", "nn.bias_add", "tfl.requantize");
        String shifts = "add(31i64, cast(%r, dtype=\"int64\"))";
        String wide = "reshape(VECTOR, newshape=[1, 1, 1, 4])";
        String half = "left_shift(1i64, subtract(" + shifts + ", 1i64))";
        Function each = same(
                "each",
                qnn,
                conv
                        + spelled.replace("MULTIPLIER", wide.replace("VECTOR", "cast(%m, dtype=\"int64\")"))
                                .replace(
                                        "POS", "broadcast_to(" + wide.replace("VECTOR", half) + ", shape=[1, 4, 5, 4])")
                                .replace(
                                        "NEG",
                                        "broadcast_to(" + wide.replace("VECTOR", "subtract(" + half + ", 1i64)")
                                                + ", shape=[1, 4, 5, 4])")
                                .replace("TOTAL", wide.replace("VECTOR", shifts)));
        assertThat(operators(each)).containsExactly("qnn.conv2d", "nn.bias_add", "tfl.requantize");
        Function spelledOut = read("loose", """
            def @main(%x: Tensor[(2, 3), int32]) {
              %0 = multiply(left_shift(cast(%x, dtype="int64"), 2i64), 1518500250i64);
              %1 = add(%0, where(greater_equal(%0, zeros(shape=[2, 3], dtype="int64")), full(1073741824i64, shape=[2, 3], dtype="int64"), full(1073741820i64, shape=[2, 3], dtype="int64")));
              %2 = clip(right_shift(%1, 31i64), a_min=-128f, a_max=127f);
              (cast(%2, dtype="int8"), divide(%0, 7i64), subtract(%0, %1))
            }
            """);
        add(spelledOut);
        assertThat(operators(spelledOut)).contains("where", "right_shift", "maximum", "minimum");
    }

    private void elements() {
        same("sum", """
            def @main(%x: Tensor[(1, 40), int8]) {
              qnn.add(%x, %x, 0.3f, 4, 0.7f, -3, 0.5f, 9)
            }
            """, """
                def @main(%x: Tensor[(1, 40), int8]) {
                  %0 = subtract(cast(%x, dtype="int32"), 4);
                  %1 = fixed_point_multiply(%0, multiplier=M1, shift=S1);
                  %2 = subtract(cast(%x, dtype="int32"), -3);
                  %3 = fixed_point_multiply(%2, multiplier=M2, shift=S2);
                  %4 = subtract(add(add(9, %1), add(9, %3)), 9);
                  cast(clip(%4, a_min=-128f, a_max=127f), dtype="int8")
                }
                """.replace("M1", multiplier(0.3f / 0.5))
                .replace("S1", shift(0.3f / 0.5))
                .replace("M2", multiplier(0.7f / 0.5))
                .replace("S2", shift(0.7f / 0.5)));
        Function product = read("product", """
            def @main(%x: Tensor[(1, 2, 3, 4), int8], %y: Tensor[(1, 2, 3, 4), int8]) {
              %0 = multiply(subtract(cast(%x, dtype="int32"), 4), subtract(cast(%y, dtype="int32"), -5));
              %1 = add(1, fixed_point_multiply(%0, multiplier=M, shift=S));
              %2 = cast(clip(%1, a_min=-128f, a_max=127f), dtype="int8");
              %3 = (%2, %x);
              concatenate(%3, axis=3)
            }
            """.replace("M", multiplier(0.013f)).replace("S)", shift(0.013f) + ")"));
        add(product);
        byte[] answer = Interpreter.run(product, last(2)).get(0).toArray();
        QuantizedMultiplier by = QuantizedMultiplier.of(0.013f);
        for (int i = 0; i < 24; i++) {
            int factor = (last(2).get(0).get(i) - 4) * (last(2).get(1).get(i) + 5);
            long scaled = ((long) factor * by.multiplier() + (1L << (30 - by.shift()))) >> (31 - by.shift());
            assertThat(answer[i / 4 * 8 + i % 4]).isEqualTo((byte) Math.max(-128, Math.min(127, scaled + 1)));
        }
        same("pool", """
            def @main(%x: Tensor[(1, 4, 4, 3), int8]) {
              %0 = cast(nn.avg_pool2d(cast(%x, dtype="int32"), pool_size=[2, 2], strides=[2, 2], layout="NHWC"), dtype="int8");
              qnn.requantize(%0, 0.4f, 2, 0.3f, -1, out_dtype="int8")
            }
            """, """
                def @main(%x: Tensor[(1, 4, 4, 3), int8]) {
                  %0 = nn.avg_pool2d(cast(%x, dtype="int32"), pool_size=[2, 2], strides=[2, 2], layout="NHWC");
                  %1 = fixed_point_multiply(subtract(%0, 2), multiplier=M, shift=S);
                  cast(clip(add(-1, %1), a_min=-128f, a_max=127f), dtype="int8")
                }
                """.replace("M", multiplier(0.4f / (double) 0.3f))
                .replace("S)", shift(0.4f / (double) 0.3f) + ")"));
        Function sums = read("sums", """
            def @main(%x: Tensor[(1, 4, 3), int32]) {
              (sum(%x, axis=[1]), mean(%x, axis=[2], keepdims=True), nn.bias_add(%x, meta[relay.Constant][0], axis=2), max(%x, axis=[1]))
            }
            """ + metadata());
        add(sums);
    }

    /** uint8, as TVM's own quantized models have it. */
    private void bytes() {
        Function function = read("bytes", """
            def @main(%x: Tensor[(1, 4, 5, 5), uint8], %w: Tensor[(3, 2, 5, 4), int8]) {
              %0 = nn.pad(%x, 120, pad_width=[[0, 0], [1, 1], [1, 0], [0, 0]]);
              %1 = nn.conv2d(%0, %w, padding=[0, 0, 0, 0], channels=4, kernel_size=[3, 2], data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
              %2 = subtract(%1, multiply(120, reshape(sum(cast(%w, dtype="int32"), axis=[0, 1, 2]), newshape=[1, 1, 1, 4])));
              %3 = fixed_point_multiply(%2, multiplier=1234567890, shift=-9);
              cast(clip(add(130, %3), a_min=0f, a_max=255f), dtype="uint8")
            }
            """);
        add(function);
        Function centred = read("centred", """
            def @main(%y: Tensor[(1, 4, 5, 5), uint8], %w: Tensor[(3, 2, 5, 4), int8]) {
              %0 = subtract(cast(%y, dtype="int16"), 120i16);
              %1 = nn.conv2d(%0, %w, padding=[1, 1, 1, 0], channels=4, kernel_size=[3, 2], data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
              %2 = fixed_point_multiply(%1, multiplier=1234567890, shift=-9);
              cast(clip(add(130, %2), a_min=0f, a_max=255f), dtype="uint8")
            }
            """);
        assertThat(Interpreter.run(centred, last(1))).isEqualTo(Interpreter.run(function, last(1)));
        add(centred);
    }

    private void floats() {
        String text = """
            def @main(%x: Tensor[(1, 12), int8]) {
              %0 = nn.softmax(REAL);
              RESULT
            }
            """;
        Function qnn = read(
                "softmax",
                text.replace("REAL", "qnn.dequantize(%x, 0.14f, 3)")
                        .replace("RESULT", "qnn.quantize(%0, 0.00390625f, -128, out_dtype=\"int8\")"));
        Function spelled = read(
                "softmax",
                text.replace("REAL", "multiply(cast(subtract(cast(%x, dtype=\"int32\"), 3), dtype=\"float32\"), 0.14f)")
                        .replace(
                                "RESULT",
                                "%1 = round(divide(%0, 0.00390625f));\n%2 = add(cast(%1, dtype=\"int32\"), -128);\n"
                                        + "cast(clip(%2, a_min=-128f, a_max=127f), dtype=\"int8\")"));
        assertThat(operators(spelled)).isEqualTo(operators(qnn));
        Function rounded = read("round", """
            def @main(%x: Tensor[(9), float32]) {
              %0 = clip(round(multiply(%x, 16f)), a_min=-127f, a_max=127f);
              %1 = annotation.stop_fusion(cast(%0, dtype="int8"));
              cast(cast(%1, dtype="int64"), dtype="int8")
            }
            """);
        add(rounded);
        Bytes halves = Bytes.wrap(ByteBuffer.allocate(36)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putFloat(0.5f / 16)
                .putFloat(-0.5f / 16)
                .putFloat(2.5f / 16)
                .putFloat(-2.5f / 16)
                .putFloat(99)
                .putFloat(0.49999997f / 16)
                .putFloat(-0f)
                .putFloat(-1.2f)
                .putFloat(7.0f)
                .array());
        Function finite = read("finite", """
            def @main(%x: Tensor[(9), float32], %y: Tensor[(9), int32]) {
              (where(isfinite(divide(%x, 0f)), 1f, 2f), negative(%y))
            }
            """);
        add(finite);
        assertThat(Interpreter.run(rounded, List.of(halves)).get(0).toArray())
                .containsExactly(1, -1, 3, -3, 127, 0, 0, -19, 112);
    }

    private static String metadata() {
        Function bias = RelayFrontend.read(
                Bytes.ofText("def @main(%x: Tensor[(3), int32], %b: Tensor[(3), int32]) {\n  add(%x, %b)\n}\n"),
                "m.relay",
                Optional.of(ParameterFile.write(List.of(new NamedTensor(
                        "b", DType.INT32, List.of(3), Bytes.wrap(new byte[] {1, 0, 0, 0, 2, 0, 0, 0, -1, -1, -1, -1
                        }))))),
                "m.params",
                "default");
        String text = RelayPrinter.astext(bias);
        return text.substring(text.indexOf("#[metadata]"));
    }

    /** The text of {@code qnn} operators and the one that spells them out answer the same; the latter is compiled. */
    private Function same(String name, String qnn, String spelled) {
        Function function = read(name, spelled);
        add(function);
        assertThat(Interpreter.run(function, last(function.params().size())))
                .as(name)
                .isEqualTo(
                        Interpreter.run(read(name, qnn), last(function.params().size())));
        return function;
    }

    private Function read(String name, String text) {
        List<NamedTensor> named =
                params.stream().filter(p -> text.contains("%" + p.name() + ":")).toList();
        Function function = RelayFrontend.read(
                Bytes.ofText(text), name + ".relay", Optional.of(ParameterFile.write(named)), name + ".params", name);
        Function again = RelayFrontend.read(
                Bytes.ofText(RelayPrinter.astext(function)), name + ".relay", Optional.empty(), name + ".params", name);
        assertThat(again).as(name).isEqualTo(function);
        return function;
    }

    private void add(Function function) {
        CompileRequest request = new CompileRequest(
                Path.of("m.relay"),
                function.name(),
                TARGETS.get(models.size() % TARGETS.size()),
                Io.CALLER,
                Optimize.SPEED);
        CompiledModel compiled = ModelCompiler.compile(request, function);
        models.add(compiled.library().metadata());
        artifacts.add(compiled.library().artifacts().artifacts());
        List<Bytes> own = new ArrayList<>();
        for (Parameter parameter : function.params()) {
            own.add(RandomOperators.input(parameter.type(), models.size() + own.size()));
        }
        inputs.addAll(own);
        Interpreter.run(function, own).forEach(result -> expected.writeBytes(result.toArray()));
    }

    private List<Bytes> last(int count) {
        return inputs.subList(inputs.size() - count, inputs.size());
    }

    private static List<String> operators(Function function) {
        return function.bindings().stream().map(b -> b.op().name()).toList();
    }

    private static String multiplier(double ratio) {
        return String.valueOf(QuantizedMultiplier.of(ratio).multiplier());
    }

    private static String shift(double ratio) {
        return String.valueOf(QuantizedMultiplier.of(ratio).shift());
    }

    private void multipliers(String prefix, float... scales) {
        params.addAll(ratios(prefix, scales[0], scales[1], scales[2], scales[3]));
        ByteBuffer data = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
        for (float scale : scales) {
            data.putFloat(scale);
        }
        params.add(new NamedTensor(prefix + "s", DType.FLOAT32, List.of(4), Bytes.wrap(data.array())));
    }

    /** {@code m}, {@code l} and {@code r} as TVM computes them of ratios of scales. */
    private static List<NamedTensor> ratios(String prefix, double... ratios) {
        int[] m = Arrays.stream(ratios)
                .mapToInt(x -> QuantizedMultiplier.of(x).multiplier())
                .toArray();
        int[] s = Arrays.stream(ratios)
                .mapToInt(x -> QuantizedMultiplier.of(x).shift())
                .toArray();
        return List.of(
                ints(prefix + "m", m),
                ints(prefix + "l", Arrays.stream(s).map(x -> Math.max(x, 0)).toArray()),
                ints(prefix + "r", Arrays.stream(s).map(x -> Math.max(-x, 0)).toArray()));
    }

    private static NamedTensor ints(String name, int... values) {
        ByteBuffer data = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            data.putInt(value);
        }
        return new NamedTensor(name, DType.INT32, List.of(values.length), Bytes.wrap(data.array()));
    }

    private void param(String name, DType dtype, Integer... dims) {
        int elements = Arrays.stream(dims).reduce(1, (a, b) -> a * b);
        byte[] data = new byte[elements * dtype.bytes()];
        random.nextBytes(data);
        // Keeps int32 within 16 bits.
        for (int i = 3; dtype == DType.INT32 && i < data.length; i += 4) {
            data[i] = (byte) (data[i - 2] >> 7);
            data[i - 1] = data[i];
        }
        params.add(new NamedTensor(name, dtype, List.of(dims), Bytes.wrap(data)));
    }
}
