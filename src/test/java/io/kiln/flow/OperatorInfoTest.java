// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.artifact.ModelMetadata.OperatorInfo;
import io.kiln.base.Optimize;
import io.kiln.reference.GoldenModels;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is said of a model whose constant channels are removed. */
class OperatorInfoTest {
    private static ModelMetadata visualWakeWords() {
        return ModelCompiler.compile(new CompileRequest(
                        GoldenModels.model("vww_96_int8"), "vww", "c -mcpu=cortex-m4", Io.CALLER, Optimize.SPEED))
                .library()
                .metadata();
    }

    @Test
    void multiplyAccumulatesAreTheModelsAndExecutedOnesWhatIsLeft() {
        List<OperatorInfo> operators = visualWakeWords().operators();
        assertThat(operators.stream().mapToLong(OperatorInfo::macs).sum()).isEqualTo(7_489_664);
        assertThat(operators.stream().mapToLong(OperatorInfo::executedMacs).sum())
                .isLessThanOrEqualTo(3_727_313);
        assertThat(operators).allSatisfy(o -> assertThat(o.executedMacs()).isLessThanOrEqualTo(o.macs()));
    }

    @Test
    void tensorsHaveTheShapesThatTheCodeWorksOn() {
        List<OperatorInfo> operators = visualWakeWords().operators();
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
