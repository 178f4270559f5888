// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Optimize;
import io.kiln.base.WholeFiles;
import io.kiln.firmware.CompiledObjects;
import io.kiln.firmware.FirmwareAssembler;
import io.kiln.firmware.FirmwareCompiler;
import io.kiln.firmware.FirmwareLinker;
import io.kiln.firmware.FirmwareRequest;
import io.kiln.firmware.FirmwareRequest.ExtraCode;
import io.kiln.firmware.FirmwareRequest.ImageOptions;
import io.kiln.firmware.image.Measurement;
import io.kiln.firmware.image.Measurement.Region;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.state.PluginVersion;
import io.kiln.toolchain.board.Board.Kind;
import io.kiln.toolchain.board.Board.Memory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Computes what other options would save for an image that does not fit. RAM is what the compiler plans, so the model
 * is compiled again; flash is known only after the C compiler, so the image is built again beside the build's own.
 */
final class Savings {
    private final ResolvedBuild build;
    private final BuildSpec spec;
    private final Measurement measured;

    Savings(ResolvedBuild build, Measurement measured) {
        this.build = build;
        this.spec = build.spec();
        this.measured = measured;
    }

    /** Alternative options of a build. */
    private record Choice(Optimize optimize, Io io) {}

    /** The end of the error message. Empty if no alternative helps, or if the models came as C and cannot be compiled again. */
    String text() {
        if (spec.models().stream().anyMatch(model -> ModelArchives.accepts(model.file()))) {
            return "";
        }
        List<String> lines = new ArrayList<>();
        long flash = excess(Kind.ROM);
        long ram = excess(Kind.RAM);
        if (ram > 0) {
            choices()
                    .forEach(choice -> ramSaved(choice)
                            .filter(saved -> saved > 0)
                            .ifPresent(saved -> lines.add(line(choice, saved, "RAM", ram))));
        }
        if (flash > 0 && spec.optimize() != Optimize.SIZE) {
            flashSaved()
                    .filter(saved -> saved > 0)
                    .ifPresent(saved -> lines.add(
                            line(new Choice(Optimize.SIZE, spec.calls().io()), saved, "flash", flash)));
        }
        return lines.isEmpty() ? "" : ", or try\n" + String.join("\n", lines);
    }

    private List<Choice> choices() {
        boolean isOwnProgram = measured.ram().io() == 0;
        // The project's own program calls the model differently with the other value of kiln.io.
        List<Io> ios = isOwnProgram || spec.calls().io() == Io.WORKSPACE
                ? List.of(spec.calls().io())
                : List.of(spec.calls().io(), Io.WORKSPACE);
        return Stream.of(spec.optimize(), Optimize.RAM)
                .distinct()
                .flatMap(optimize -> ios.stream().map(io -> new Choice(optimize, io)))
                .filter(choice ->
                        !choice.equals(new Choice(spec.optimize(), spec.calls().io())))
                .toList();
    }

    private Optional<Long> ramSaved(Choice choice) {
        return libraries(choice)
                .map(libraries -> ram(models(), spec.calls().io())
                        - ram(libraries.stream().map(ModelLibrary::metadata).toList(), choice.io()));
    }

    private List<ModelMetadata> models() {
        return GenerateStep.store(spec.layout()).metadata();
    }

    /**
     * RAM for each model's workspace and for the default application's buffer of inputs and outputs; or one pool for
     * all models, because only one runs at a time.
     */
    private long ram(List<ModelMetadata> models, Io io) {
        LongStream workspaces = models.stream().mapToLong(ModelMetadata::workspaceBytes);
        return io == Io.WORKSPACE
                ? workspaces.max().orElse(0)
                : workspaces.sum() + measured.ram().io();
    }

    private Optional<Long> flashSaved() {
        Path folder = spec.layout().reports().resolve("savings");
        try {
            return libraries(new Choice(Optimize.SIZE, spec.calls().io()))
                    .flatMap(libraries -> FirmwareLinker.measure(objects(libraries, folder), folder))
                    .map(other -> measured.flash().total() - other.flash().total());
        } catch (KilnException e) {
            return Optional.empty();
        } finally {
            WholeFiles.clear(folder);
        }
    }

    private CompiledObjects objects(List<ModelLibrary> libraries, Path folder) {
        FirmwareRequest request = new FirmwareRequest(
                build.board(),
                build.toolchain(),
                Optimize.SIZE,
                new FirmwareRequest.Content(
                        libraries,
                        spec.image().code().of(spec.layout(), build.board()),
                        ImageOptions.DEFAULT,
                        CmsisNnSources.of(spec.codegens(), libraries),
                        ExtraCode.NONE),
                FirmwareRequest.Folders.in(folder),
                PluginVersion.text());
        return FirmwareCompiler.compile(FirmwareAssembler.assemble(request, Log.QUIET), Log.QUIET);
    }

    /** The models compiled with other options; empty if one cannot be. */
    private Optional<List<ModelLibrary>> libraries(Choice choice) {
        try {
            List<ModelLibrary> libraries = new ArrayList<>();
            for (ModelSource model : spec.models()) {
                libraries.add(GenerateStep.compile(build, model, choice.io(), choice.optimize())
                        .library());
            }
            return Optional.of(libraries);
        } catch (KilnException e) {
            return Optional.empty();
        }
    }

    private long excess(Kind kind) {
        return measured.regions().stream()
                .filter(region -> build.board()
                        .memory(region.name())
                        .map(Memory::kind)
                        .filter(kind::equals)
                        .isPresent())
                .mapToLong(Region::excess)
                .sum();
    }

    private String line(Choice choice, long saved, String memory, long needed) {
        List<String> words = new ArrayList<>();
        if (choice.optimize() != spec.optimize()) {
            words.add("-Dkiln.optimize=" + choice.optimize().text());
        }
        if (choice.io() != spec.calls().io()) {
            words.add("-Dkiln.io=" + choice.io().text());
        }
        return String.format(
                Locale.ROOT,
                "  %s: %,d bytes of %s less, %s",
                String.join(" ", words),
                saved,
                memory,
                saved >= needed ? "which is enough" : String.format(Locale.ROOT, "of %,d too many", needed));
    }
}
