// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.ir.Function;
import io.kiln.ir.text.RelayPrinter;
import org.junit.jupiter.api.Test;

/** Layers behind TVM's canonicalisation of {@code qnn} operators answer as the operators that they spell out, and so does their C. */
class CanonicalTextTest extends CanonicalTexts {
    @Test
    void theirAnswersAreThoseOfTheOperators() {
        standardParameters();
        layers();
        depthwise();
        roundedAway();
        assertCompiledAnswers();
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
}
