// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.element;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Origin;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.lower.FusedOperator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ProvenAddTest {
    private static final TensorType TYPE = new TensorType(Shape.of(1, 2, 3, 4), DType.INT8);

    private static FusedOperator sum(float[] scales, int[] zeroPoints, Optional<Clip> clip) {
        List<Arg> args = List.of(
                new Arg.Ref(0),
                new Arg.Ref(1),
                Constant.scalar(scales[0]),
                Constant.scalar(zeroPoints[0]),
                Constant.scalar(scales[1]),
                Constant.scalar(zeroPoints[1]),
                Constant.scalar(scales[2]),
                Constant.scalar(zeroPoints[2]));
        Binding root = new Binding(2, new QnnAdd(), args, TYPE, new Origin("test", 0, "qnn.add", "t"));
        return new FusedOperator(
                "f",
                root,
                List.of(TYPE, TYPE),
                new FusedOperator.Tail(Optional.empty(), Optional.empty(), clip),
                2,
                TYPE,
                "qnn.add");
    }

    private static void assertEqual(ProvenAdd found, float[] scales, int[] zeroPoints, int low, int high) {
        TflAddParameters reference = TflAddParameters.of(scales[0], scales[1], scales[2]);
        int different = 0;
        for (int x = -128; x < 128; x++) {
            for (int y = -128; y < 128; y++) {
                int sum = reference.scaleLhs(x - zeroPoints[0]) + reference.scaleRhs(y - zeroPoints[1]);
                long value = (long) reference.scaleOutput(sum) + zeroPoints[2];
                different += found.apply(x, y) == FixedPoint.clamp(value, low, high) ? 0 : 1;
            }
        }
        assertThat(different).as("%s", found).isZero();
    }

    @Test
    void mostSumsHaveConstantsThatGiveTheReferencesResultForEveryPair() {
        Random random = new Random(5);
        int found = 0;
        for (int i = 0; i < 60; i++) {
            float[] scales = {
                0.01f + random.nextFloat() / 8, 0.01f + random.nextFloat() / 8, 0.02f + random.nextFloat() / 8
            };
            int[] zeroPoints = {random.nextInt(256) - 128, random.nextInt(256) - 128, random.nextInt(256) - 128};
            Optional<Clip> clip = i % 3 == 0 ? Optional.of(new Clip(zeroPoints[2], Float.MAX_VALUE)) : Optional.empty();
            Optional<ProvenAdd> sum = ProvenAdd.of(sum(scales, zeroPoints, clip));
            if (sum.isPresent()) {
                found++;
                assertEqual(sum.orElseThrow(), scales, zeroPoints, clip.isPresent() ? zeroPoints[2] : -128, 127);
            }
        }
        assertThat(found).isGreaterThan(40);
    }

    @Test
    void factorsThatLeave32BitsAreRefused() {
        assertThat(ProvenAdd.of(sum(new float[] {1000f, 1e-6f, 1e-4f}, new int[3], Optional.empty())))
                .isEmpty();
    }
}
