// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.base.Log;
import io.kiln.base.elf.ElfFile;
import io.kiln.firmware.CompiledObjects;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.preprocess.ModelPreprocessing;
import io.kiln.preprocess.Preprocessing;
import io.kiln.report.BuildReport.PreprocessingReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** The signal processing before a model of the build. */
public final class AudioInput {
    private AudioInput() {}

    /**
     * The signal processing of a model; empty if it has none.
     *
     * @throws io.kiln.base.KilnException with every mistake in its file, and everything in which the model's input does not fit
     */
    public static Optional<ModelPreprocessing> of(ModelSource source, ModelMetadata model) {
        return source.preprocessing().map(file -> Preprocessing.read(file).of(model));
    }

    /** The signal processing of all generated models of a build, by their names. An archive brings only its C. */
    public static SortedMap<String, ModelPreprocessing> ofAll(BuildSpec build) {
        SortedMap<String, ModelPreprocessing> found = new TreeMap<>();
        for (ModelMetadata model : GenerateStep.store(build.layout()).hearing()) {
            build.models().stream()
                    .filter(source -> source.name().equals(model.name()))
                    .flatMap(source -> of(source, model).stream())
                    .forEach(preprocessing -> found.put(model.name(), preprocessing));
        }
        return found;
    }

    /** The costs of the signal processing before the models of a build. */
    static List<PreprocessingReport> costs(ResolvedBuild build, CompiledObjects objects) {
        return ofAll(build.spec()).entrySet().stream()
                .map(each -> new PreprocessingReport(
                        each.getKey(),
                        each.getValue().frames(),
                        each.getValue().features(),
                        build.board().isHost() ? null : codeBytes(each.getKey(), objects),
                        each.getValue().tableBytes(),
                        each.getValue().stateBytes(),
                        null,
                        null))
                .toList();
    }

    private static long codeBytes(String model, CompiledObjects objects) {
        String source = new InterfaceNames(model).preprocessSource();
        return objects.files().entrySet().stream()
                .filter(file -> file.getKey().endsWith("/" + source))
                .flatMap(file -> ElfFile.read(file.getValue()).sections().stream())
                .filter(section -> section.isAllocated() && section.hasContent())
                .filter(section -> !section.name().startsWith(InterfaceNames.CONSTANTS_SECTION))
                .mapToLong(ElfFile.Section::size)
                .sum();
    }

    /** The library with the C of the model's signal processing. */
    public static ModelLibrary before(ModelSource source, ModelLibrary library, Log log) {
        return of(source, library.metadata())
                .map(preprocessing -> {
                    log.info(preprocessing.summary());
                    List<Artifact> all = new ArrayList<>(library.artifacts().artifacts());
                    all.addAll(preprocessing.code());
                    return new ModelLibrary(
                            library.metadata(), library.artifacts().with(all), library.origin());
                })
                .orElse(library);
    }
}
