// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.UINT32;
import static io.kiln.base.DType.UINT64;

import io.kiln.base.DType;
import io.kiln.lower.Intrinsics;
import io.kiln.tir.Intrinsic;
import java.util.List;
import java.util.stream.Stream;

/**
 * Helpers of generated C that compute single precision in integers, bit for bit. A float is the word of its bits, or, where all have one
 * unit, an integer with at most 24 bits from its highest one on.
 */
final class SingleIntrinsics {
    private static final Intrinsic BITS = of("kiln_bits", List.of(UINT64), INT32, List.of());

    private static final List<Intrinsic> ROUNDING = List.of(BITS, Intrinsics.ROUND_EVEN);

    private static final Intrinsic ROUND_24 = of("kiln_round_24", List.of(UINT64), UINT64, ROUNDING);

    /** The float nearest to a number of units of a power of two. */
    static final Intrinsic SINGLE = of("kiln_single", List.of(UINT64, INT32), UINT32, ROUNDING);

    private static final Intrinsic FMA =
            of("kiln_single_fma", List.of(UINT32, UINT32, INT32, INT32, UINT32), UINT32, with(SINGLE));

    /** A sum of two numbers of one unit. */
    static final Intrinsic SUM = of("kiln_sum_24", List.of(INT64, INT64), INT64, with(ROUND_24));

    /** A multiple of a scale, given its mantissa, in units of the mantissa's last bit. */
    static final Intrinsic MULTIPLE = of("kiln_multiple_24", List.of(INT32, INT32), INT64, with(ROUND_24));

    /** {@link io.kiln.ir.arith.OnnxSoftmaxArithmetic#exponential} of minus a number of units of a power of two. */
    static final Intrinsic EXPONENTIAL = of(
            "kiln_single_exp",
            List.of(UINT64, INT32),
            UINT32,
            Stream.concat(Stream.of(ROUND_24, SINGLE, FMA), ROUNDING.stream()).toList());

    /** A sum of floats that are not negative. */
    static final Intrinsic ADD = of("kiln_single_add", List.of(UINT32, UINT32), UINT32, List.of());

    /** A product of floats that are not negative. */
    static final Intrinsic MULTIPLY = of("kiln_single_multiply", List.of(UINT32, UINT32), UINT32, List.of());

    /** A quotient of floats that are not negative. */
    static final Intrinsic DIVIDE = of("kiln_single_divide", List.of(UINT32, UINT32), UINT32, with(SINGLE));

    private static final Intrinsic PRODUCT_HIGH = of("kiln_product_high", List.of(UINT64, UINT64), UINT64, List.of());

    /** {@link io.kiln.ir.arith.SingleLogarithm} of a float from 1 to {@link io.kiln.ir.arith.SingleLogarithm#MOST}. */
    static final Intrinsic LOGARITHM = of(
            "kiln_single_log",
            List.of(UINT32),
            UINT32,
            Stream.concat(Stream.of(PRODUCT_HIGH), with(SINGLE).stream()).toList());

    /** A float that is not negative as an integer, halves to even. */
    static final Intrinsic ROUND = of("kiln_single_round", List.of(UINT32), INT32, List.of(Intrinsics.ROUND_EVEN));

    private static final Intrinsic SIGNED_SUM =
            of("kiln_single_sum", List.of(UINT32, UINT32), UINT32, withAll(ADD, SINGLE));

    /** {@link io.kiln.ir.arith.OnnxBilinear#interpolate} without its zero point and limits: bytes, weights, both scales. */
    static final Intrinsic BILINEAR = of(
            "kiln_single_bilinear",
            List.of(INT32, INT32, INT32, INT32, UINT32, UINT32, UINT32, UINT32, UINT32, UINT32),
            INT32,
            withAll(SIGNED_SUM, ADD, MULTIPLY, DIVIDE, ROUND, SINGLE));

    private SingleIntrinsics() {}

    private static List<Intrinsic> withAll(Intrinsic... some) {
        return Stream.concat(Stream.of(some), ROUNDING.stream()).toList();
    }

    private static List<Intrinsic> with(Intrinsic first) {
        return Stream.concat(Stream.of(first), ROUNDING.stream()).toList();
    }

    private static Intrinsic of(String name, List<DType> parameters, DType result, List<Intrinsic> uses) {
        return Intrinsic.inFile("portable/single/" + name, parameters, result, uses.toArray(Intrinsic[]::new));
    }
}
