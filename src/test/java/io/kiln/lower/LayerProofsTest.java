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
        ProvenRescale found = proofs.find(reference(17), BOUNDS).orElseThrow();

        assertThat(found).isEqualTo(ProvenRescale.find(reference(17), BOUNDS).orElseThrow());
        assertThat(proofs.find(reference(17), BOUNDS).orElseThrow()).isSameAs(found);
        assertThat(proofs.find(reference(18), BOUNDS)).isEqualTo(ProvenRescale.find(reference(18), BOUNDS));
        assertThat(proofs.find(reference(17), BOUNDS, 8)).isEqualTo(ProvenRescale.find(reference(17), BOUNDS, 8));
    }

    private static ProvenRescale.Reference reference(int bias) {
        Requantization requantization =
                new Requantization(List.of(1_500_000_000), List.of(-8), 0, -3, DType.INT8, Rounding.TFLITE);
        return new ProvenRescale.Reference(requantization, List.of(bias), -128, 127);
    }
}
