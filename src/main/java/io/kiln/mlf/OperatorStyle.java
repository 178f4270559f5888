// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Archives of style {@code operator}, since version 4: operators that nothing calls in order. Their metadata have no {@code modules}, no
 * executors, and the tensors of each operator for its memory.
 */
final class OperatorStyle {
    private static final String STYLE = "style";
    private static final String OPERATOR = "operator";
    private static final String EXECUTORS = "executors";

    private OperatorStyle() {}

    /** Whether the metadata of a model, or of an archive of version 7, are those of an archive of this style. */
    static boolean isOf(FormatVersion version, JsonKey json) {
        return version.hasStyles()
                && json.at(STYLE).is(OPERATOR)
                && json.at(version.executorsKey()).isEmptyList();
    }

    /**
     * Whether an archive of these models has this style.
     *
     * @throws KilnException if some of them have, or several
     */
    static boolean isWhole(List<ModelLibrary> models) {
        boolean isSome = models.stream().anyMatch(model -> isOperators(model.metadata()));
        if (isSome && models.size() > 1) {
            throw Failure.CONFIG.exception(
                    "an archive of style operator cannot hold " + models.size() + " models",
                    "kiln.executor",
                    "one model, or kiln.executor aot or graph",
                    "Set kiln.executor to aot or graph, or build each model by itself");
        }
        return isSome;
    }

    private static boolean isOperators(ModelMetadata model) {
        return model.api().executor() == ExecutorKind.NONE;
    }

    /** The metadata of an archive of style {@code operator}: all keys but the version. */
    static Map<String, Object> metadata(ModelMetadata model, String time) {
        Map<String, Object> memory = new TreeMap<>();
        model.operators().forEach(operator -> memory.put(operator.name(), tensors(operator)));
        return Map.of(
                "model_name",
                model.name(),
                "export_datetime",
                time,
                STYLE,
                OPERATOR,
                EXECUTORS,
                List.of(),
                "target",
                List.of(model.target()),
                "memory",
                memory);
    }

    private static List<Map<String, Object>> tensors(OperatorInfo operator) {
        List<Map<String, Object>> tensors = new ArrayList<>();
        operator.inputs().forEach(input -> tensors.add(tensor(input, "input" + tensors.size())));
        operator.outputs()
                .forEach(output -> tensors.add(tensor(
                        output, "output" + (tensors.size() - operator.inputs().size()))));
        return tensors;
    }

    private static Map<String, Object> tensor(TensorInfo tensor, String binding) {
        return Map.of(
                "size_bytes", tensor.bytes(),
                "shape", tensor.shape(),
                "dtype", tensor.dtype().text(),
                "input_binding", binding);
    }
}
