// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.ParameterFile;
import io.kiln.base.Log;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CompiledModel;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.ir.Parameter;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.ir.type.TensorType;
import io.kiln.pages.JtequantizeGenerated;
import io.kiln.preprocess.Preprocessing;
import io.kiln.preprocess.media.MediaFolder;
import io.kiln.preprocess.media.MediaFolder.MediaSample;
import io.kiln.quantize.QuantizeOptions;
import io.kiln.quantize.QuantizeOptions.QuantizeRequest;
import io.kiln.quantize.Quantized;
import io.kiln.quantize.plan.Plan.PlannedNode;
import io.kiln.quantize.quality.Quality;
import io.kiln.quantize.quality.Quality.Noise;
import io.kiln.quantize.range.ValueRange;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import io.kiln.quantize.sample.SampleReader.OtherSamples;
import io.kiln.report.Json;
import io.kiln.report.QuantizeReport;
import io.kiln.report.QuantizeReport.Advice;
import io.kiln.report.QuantizeReport.Equalized;
import io.kiln.report.QuantizeReport.Input;
import io.kiln.report.QuantizeReport.Layer;
import io.kiln.report.QuantizeReport.Output;
import io.kiln.report.QuantizeReport.Trial;
import io.kiln.report.page.Page;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The files of quantized models: Relay text with parameters, a TensorFlow Lite model, and a report as JSON and as a page. */
public record QuantizedFiles(BuildSpec spec, Log log) {
    private static final int SHOWN = 3;
    private static final int STEPS = 4;

    /** The request for a model of the build; empty if it is compiled as it is, as models without samples among several are. */
    public Optional<QuantizeRequest> request(ModelSource model) {
        if (!spec.quantize().isActive() || ModelArchives.accepts(model.file())) {
            return Optional.empty();
        }
        QuantizeRequest request = spec.quantize().request(name(model), MediaSamples.of(model), progress(model));
        return spec.models().size() == 1 || Files.exists(request.samples()) ? Optional.of(request) : Optional.empty();
    }

    private Optional<String> name(ModelSource model) {
        return spec.models().size() > 1 ? Optional.of(model.name()) : Optional.empty();
    }

    private Runs.Progress progress(ModelSource model) {
        return (done, all) -> {
            if (done * STEPS / all > (done - 1) * STEPS / all) {
                log.info("Calibrating " + model.name() + ": " + done + " of " + all + " samples");
            }
        };
    }

    /** The model as it was compiled: the quantized one if there is one, which later steps read instead of the user's. */
    public ModelSource compiled(ModelSource model) {
        Path relay = spec.layout().quantized(name(model), "relay");
        return request(model).isPresent() && Files.isRegularFile(relay)
                ? new ModelSource(relay, model.name()).in(model.version(), Optional.empty())
                : model;
    }

    /** Deletes the files of an earlier run. */
    void clear() {
        List<Path> old = new ArrayList<>();
        for (ModelSource model : spec.models()) {
            for (String extension : List.of("relay", "params", "tflite", "json", "html")) {
                old.add(spec.layout().quantized(name(model), extension));
            }
        }
        for (Path file : old) {
            WholeFiles.delete(file);
        }
    }

    /** Writes the files of those models that were quantized. */
    List<Path> write(List<CompiledModel> compiled) {
        List<Path> written = new ArrayList<>();
        for (CompiledModel one : compiled) {
            spec.models().stream()
                    .filter(model -> model.name().equals(one.imported().name()))
                    .forEach(model -> one.quantized().ifPresent(quantized -> written.addAll(write(model, quantized))));
        }
        return written;
    }

    private List<Path> write(ModelSource model, Quantized quantized) {
        List<Path> written = new ArrayList<>();
        RelayPrinter.Module relay = RelayPrinter.withParameters(quantized.function());
        written.add(file(model, "relay"));
        WholeFiles.write(file(model, "relay"), relay.text());
        written.add(file(model, "params"));
        WholeFiles.write(
                file(model, "params"), ParameterFile.write(relay.parameters()).toArray());
        quantized.network().file().ifPresent(bytes -> {
            written.add(file(model, "tflite"));
            WholeFiles.write(file(model, "tflite"), bytes.toArray());
        });
        written.add(file(model, "json"));
        QuantizeReport report = report(model, spec.quantize().options(), quantized);
        Json.write(file(model, "json"), report);
        written.add(file(model, "html"));
        WholeFiles.write(file(model, "html"), Page.of((out, html) -> JtequantizeGenerated.render(out, html, report)));
        summary(model, quantized).forEach(log::info);
        return written;
    }

    private Path file(ModelSource model, String extension) {
        return spec.layout().quantized(name(model), extension);
    }

    private List<String> summary(ModelSource model, Quantized quantized) {
        List<String> lines = new ArrayList<>();
        long floats = quantized.network().plan().nodes().stream()
                .filter(node -> node.node().type().dtype().isFloat()
                        && !node.output().dtype().isInteger())
                .count();
        lines.add(String.format(
                Locale.ROOT,
                "Quantized %s to %s on %d samples: outputs at %.1f dB, same class for %.1f %%%s",
                model.name(),
                spec.quantize().options().mode().text(),
                quantized.samples(),
                quantized.quality().sqnr(),
                100 * quantized.quality().agreement(),
                floats == 0 ? "" : ", " + floats + " operators stay float"));
        if (!quantized.equalized().isEmpty()) {
            lines.add("Equalized channels between " + quantized.equalized().size() + " pairs of layers");
        }
        quantized
                .quality()
                .accuracy()
                .ifPresent(accuracy -> lines.add(String.format(
                        Locale.ROOT,
                        "Accuracy: float %.2f %%, quantized %.2f %%",
                        100 * accuracy.real(),
                        100 * accuracy.quantized())));
        quantized.advice().stream()
                .limit(SHOWN)
                .forEach(advice -> lines.add(String.format(
                        Locale.ROOT, "  `%s` in %s: %.1f dB", advice.layer(), advice.precision(), advice.sqnr())));
        if (!quantized.trials().isEmpty()) {
            lines.add("Tried " + quantized.trials().size() + " assignments of precisions, see " + file(model, "json"));
        }
        if (!quantized.network().missing().isEmpty()) {
            lines.add("No .tflite: TensorFlow Lite lacks "
                    + String.join(", ", quantized.network().missing()));
        }
        return lines;
    }

    /** Pictures and recordings as samples for quantization. */
    private static final class MediaSamples {
        private MediaSamples() {}

        /** Reads samples of a model: recordings as its description of signal processing says, if it has one. */
        static OtherSamples of(ModelSource model) {
            return (folder, inputs) -> new MediaFolder(
                            folder, model.preprocessing().map(Preprocessing::read))
                    .read(inputs.stream().map(MediaSamples::info).toList()).stream()
                            .map(MediaSamples::sample)
                            .toList();
        }

        private static TensorInfo info(Parameter input) {
            return new TensorInfo(
                    input.name(), "", input.type().dtype(), input.type().shape().dims(), 0, 0);
        }

        private static Sample sample(MediaSample sample) {
            return new Sample(sample.name(), List.of(sample.input()), sample.label());
        }
    }

    private static QuantizeReport report(ModelSource model, QuantizeOptions options, Quantized quantized) {
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
