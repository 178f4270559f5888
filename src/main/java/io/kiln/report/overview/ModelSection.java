// SPDX-License-Identifier: Apache-2.0
package io.kiln.report.overview;

import io.kiln.artifact.ModelMetadata.PlannedBuffer;
import io.kiln.report.BuildReport;
import io.kiln.report.BuildReport.Operator;
import io.kiln.report.ModelPart;
import java.util.ArrayList;
import java.util.List;

/**
 * What a report holds of one of the models of an image.
 *
 * @param name the model's
 * @param operators in execution order
 * @param buffers of its workspace; none if they are not known one by one
 */
public record ModelSection(String name, List<Operator> operators, List<PlannedBuffer> buffers) {
    public ModelSection {
        operators = List.copyOf(operators);
        buffers = List.copyOf(buffers);
    }

    /** The models of an image. */
    public static List<ModelSection> of(BuildReport built) {
        List<ModelSection> models = new ArrayList<>();
        int operator = 0;
        int buffer = 0;
        for (ModelPart model : built.models()) {
            int operators = operator + model.operators();
            int buffers = buffer + model.buffers();
            models.add(new ModelSection(
                    model.name(),
                    built.operators().subList(operator, operators),
                    built.plan().buffers().subList(buffer, buffers)));
            operator = operators;
            buffer = buffers;
        }
        return models;
    }
}
