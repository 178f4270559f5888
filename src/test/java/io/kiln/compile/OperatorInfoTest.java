// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.OperatorInfo;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.NeedsShared;
import io.kiln.reference.OwnModel;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is said of the operators of a model, among them one whose constant channels are removed. */
class OperatorInfoTest {
    private static ModelMetadata visualWakeWords(String target) {
        return ModelCompiler.compile(RequestDraft.of(GoldenModels.model("vww_96_int8"), target)
                        .name("vww")
                        .build())
                .library()
                .metadata();
    }

    @Test
    @NeedsShared("golden")
    void multiplyAccumulatesAreTheModelsAndExecutedOnesWhatIsLeft() {
        List<OperatorInfo> operators = visualWakeWords("c").operators();
        assertThat(operators.stream().mapToLong(OperatorInfo::macs).sum()).isEqualTo(7_489_664);
        assertThat(operators.stream().mapToLong(OperatorInfo::executedMacs).sum())
                .isLessThanOrEqualTo(3_727_313);
        assertThat(operators).allSatisfy(o -> assertThat(o.executedMacs()).isLessThanOrEqualTo(o.macs()));
    }

    @Test
    void theModelsOwnLayersStandBesideTheFunction() {
        List<OperatorInfo> operators = ModelCompiler.compile(
                        RequestDraft.of(OwnModel.VISION.model(), "c").build())
                .library()
                .metadata()
                .operators();
        assertThat(operators).allSatisfy(o -> assertThat(o.layers()).isNotEmpty());
        assertThat(operators.get(0).layers()).singleElement().asString().matches("#0 CONV_2D `.+`");
        assertThat(operators.get(operators.size() - 1).layers().get(0)).matches("#\\d+ SOFTMAX `.+`");
    }

    @Test
    @NeedsShared("golden")
    void whatAKernelComputesOfPaddingCountsAsExecuted() {
        List<OperatorInfo> operators = visualWakeWords("c -mcpu=cortex-m4").operators();
        assertThat(operators.stream().mapToLong(OperatorInfo::macs).sum()).isEqualTo(7_489_664);
        assertThat(operators.stream().mapToLong(OperatorInfo::executedMacs).sum())
                .isBetween(3_727_313L, 3_900_000L);
    }

    @Test
    @NeedsShared("golden")
    void tensorsHaveTheShapesThatTheCodeWorksOn() {
        List<OperatorInfo> operators = visualWakeWords("c").operators();
        List<Integer> widths = operators.stream()
                .flatMap(o -> o.outputs().stream())
                .filter(t -> t.shape().size() == 4)
                .map(t -> t.shape().get(3))
                .toList();
        assertThat(widths).contains(60, 106, 57, 30, 19, 15, 25, 31, 22).doesNotContain(128, 256);
        OperatorInfo last = operators.get(operators.size() - 1);
        assertThat(last.outputs().get(0).shape()).containsExactly(1, 2);
    }
}
