// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.DType;
import io.kiln.ir.op.Rounding;
import io.kiln.lower.layer.LayerProofs;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is searched for once is known from then on, by its value. */
class LayerProofsTest {
    private static final List<Long> BOUNDS = List.of(40_000L);

    @Test
    void equalQuestionsAreAnsweredOnce() {
        LayerProofs proofs = new LayerProofs();
        ProvenRequantize found = proofs.find(reference(17), BOUNDS).orElseThrow();

        assertThat(found).isEqualTo(ProvenRequantize.find(reference(17), BOUNDS).orElseThrow());
        assertThat(proofs.find(reference(17), BOUNDS).orElseThrow()).isSameAs(found);
        assertThat(proofs.find(reference(18), BOUNDS)).isEqualTo(ProvenRequantize.find(reference(18), BOUNDS));
        assertThat(proofs.find(reference(17), BOUNDS, 8)).isEqualTo(ProvenRequantize.find(reference(17), BOUNDS, 8));
    }

    /** Each part of a question counts, or one layer would be rescaled as another. */
    @Test
    void aQuestionThatDiffersAnywhereIsAnother() {
        Requantization r = requantization();
        List<Integer> one = List.of(1);
        List<Requantization> others = List.of(
                new Requantization(one, r.shifts(), 0, -3, DType.INT8, Rounding.TFLITE),
                new Requantization(r.multipliers(), one, 0, -3, DType.INT8, Rounding.TFLITE),
                new Requantization(r.multipliers(), r.shifts(), 1, -3, DType.INT8, Rounding.TFLITE),
                new Requantization(r.multipliers(), r.shifts(), 0, -4, DType.INT8, Rounding.TFLITE),
                new Requantization(r.multipliers(), r.shifts(), 0, -3, DType.INT16, Rounding.TFLITE),
                new Requantization(r.multipliers(), r.shifts(), 0, -3, DType.INT8, Rounding.UPWARD));

        assertThat(requantization()).isEqualTo(r).hasSameHashCodeAs(r);
        assertThat(others).doesNotContain(r).doesNotHaveDuplicates();
        assertThat(others)
                .allSatisfy(other -> assertThat(reference(other, 17, -128, 127)).isNotEqualTo(reference(17)));
        assertThat(reference(17)).isEqualTo(reference(17)).hasSameHashCodeAs(reference(17));
        assertThat(List.of(reference(18), reference(r, 17, -127, 127), reference(r, 17, -128, 126)))
                .doesNotContain(reference(17));
    }

    private static ProvenRequantize.Reference reference(int bias) {
        return reference(requantization(), bias, -128, 127);
    }

    private static ProvenRequantize.Reference reference(Requantization requantization, int bias, int low, int high) {
        return new ProvenRequantize.Reference(requantization, List.of(bias), low, high);
    }

    private static Requantization requantization() {
        return new Requantization(List.of(1_500_000_000), List.of(-8), 0, -3, DType.INT8, Rounding.TFLITE);
    }
}
