// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.QuantizeOptions;
import io.kiln.quantize.Quantized;
import io.kiln.quantize.plan.PlannedNode;
import io.kiln.quantize.quality.Noise;
import io.kiln.quantize.quality.Quality;
import io.kiln.quantize.range.ValueRange;
import io.kiln.report.QuantizeReport;
import io.kiln.report.QuantizeReport.Advice;
import io.kiln.report.QuantizeReport.Equalized;
import io.kiln.report.QuantizeReport.Input;
import io.kiln.report.QuantizeReport.Layer;
import io.kiln.report.QuantizeReport.Output;
import io.kiln.report.QuantizeReport.Trial;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Makes reports of quantized models. */
final class QuantizeReports {
    private QuantizeReports() {}

    static QuantizeReport of(ModelSource model, QuantizeOptions options, Quantized quantized) {
        Quality quality = quantized.quality();
        return new QuantizeReport(
                String.valueOf(model.file().getFileName()),
                options.mode().text(),
                options.method().text(),
                quantized.equalized().stream()
                        .map(step -> new Equalized(step.first(), step.second(), step.spread()))
                        .toList(),
                quantized.samples(),
                inputs(quantized),
                quantized.network().plan().nodes().stream()
                        .map(node -> layer(node, quantized))
                        .toList(),
                outputs(quantized),
                quality.agreement(),
                quality.accuracy()
                        .map(accuracy -> new QuantizeReport.Accuracy(accuracy.real(), accuracy.quantized()))
                        .orElse(null),
                quantized.advice().stream()
                        .map(advice -> new Advice(advice.layer(), advice.precision(), advice.sqnr()))
                        .toList(),
                quantized.trials().stream()
                        .map(trial -> new Trial(trial.layers(), trial.sqnr(), trial.agreement(), trial.isEnough()))
                        .toList(),
                quantized.network().missing());
    }

    private static Layer layer(PlannedNode node, Quantized quantized) {
        int id = node.node().output();
        Optional<ValueRange> range = Optional.ofNullable(quantized.ranges().get(id));
        Optional<Quantization> quantization = node.output().quantization();
        return new Layer(
                node.node().name(),
                node.node().op().name(),
                node.precision().text(),
                node.reason().orElse(null),
                range.map(ValueRange::min).orElse(null),
                range.map(ValueRange::max).orElse(null),
                quantization.map(Quantization::scale).orElse(null),
                quantization.map(Quantization::zeroPoint).orElse(null),
                Optional.ofNullable(quantized.quality().nodes().get(id))
                        .map(Noise::decibels)
                        .orElse(null),
                node.node().macs());
    }

    private static List<Input> inputs(Quantized quantized) {
        return quantized.function().params().stream()
                .map(input -> new Input(
                        input.name(),
                        input.type().dtype().text(),
                        input.quantization().map(Quantization::scale).orElse(null),
                        input.quantization().map(Quantization::zeroPoint).orElse(null)))
                .toList();
    }

    private static List<Output> outputs(Quantized quantized) {
        List<Output> outputs = new ArrayList<>();
        Map<Integer, TensorType> types = quantized.function().types();
        List<Result> results = quantized.function().results();
        for (int i = 0; i < results.size(); i++) {
            Result result = results.get(i);
            outputs.add(new Output(
                    result.name(),
                    types.get(result.id()).dtype().text(),
                    result.quantization().map(Quantization::scale).orElse(null),
                    result.quantization().map(Quantization::zeroPoint).orElse(null),
                    quantized.quality().outputs().get(i).decibels()));
        }
        return outputs;
    }
}
