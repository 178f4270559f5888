// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.RuntimeFeature;
import io.kiln.artifact.RuntimeFiles;
import io.kiln.base.Bytes;
import io.kiln.base.CText;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.Problems;
import io.kiln.base.ResourceTree;
import io.kiln.base.StoredZip;
import io.kiln.base.TextTemplate;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CodeTarget;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.flow.build.AudioInput;
import io.kiln.flow.build.QuantizedFiles;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.state.FreshFolder;
import io.kiln.flow.verify.RoundedModel;
import io.kiln.flow.verify.TestVectors;
import io.kiln.flow.verify.VerificationCases;
import io.kiln.target.Target;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Writes the build's models as a library of C sources in the form of another build system, with an example that runs the
 * proof's vectors. The C has the typed interface with tensors of the caller; it needs nothing of Kiln.
 */
public final class SourceExport {
    private static final String FIRST_VERSION = "0.0.0";
    private static final Pattern VERSION = Pattern.compile("(?:0|[1-9][0-9]{0,8})(?:\\.(?:0|[1-9][0-9]{0,8})){2}");

    /** Folders of the runtime in an archive, which a library does not repeat. */
    private static final String INCLUDE = "include/";

    private final Log log;
    private final BuildSpec spec;
    private final SourceForm form;
    private final String version;

    private SourceExport(Log log, BuildSpec spec, SourceForm form, String version) {
        this.log = log;
        this.spec = spec;
        this.form = form;
        this.version = version;
    }

    /**
     * An export to a build system.
     *
     * @param kind the build system, a value of {@code kiln.export}
     * @param version version of the library; empty for that of its models
     * @throws KilnException if there is no such build system, or the build's models cannot be exported as C
     */
    public static SourceExport of(Log log, BuildSpec spec, String kind, String version) {
        SourceForm form = SourceForm.of(kind, LibraryExport.KIND);
        Problems problems = new Problems(Failure.CONFIG);
        Exportable.check(spec, problems);
        Exportable.checkIsOfC(spec, problems);
        String text = version.isEmpty() ? versionOfModels(spec) : version;
        if (!VERSION.matcher(text).matches()) {
            problems.add(
                    "'" + text + "' is not a valid library version",
                    "kiln.export.version",
                    "three numbers with dots between them, such as 1.0.0",
                    "Set -Dkiln.export.version");
        }
        problems.throwIfAny();
        return new SourceExport(log, spec, form, text);
    }

    private static String versionOfModels(BuildSpec spec) {
        Set<String> versions = spec.models().stream().map(ModelSource::version).collect(Collectors.toSet());
        String one = versions.size() == 1 ? versions.iterator().next() : "";
        return one.isEmpty() ? FIRST_VERSION : one;
    }

    /**
     * Writes the library below {@code <out>/export/<kind>}, and the archive that the build system expects, if it does.
     *
     * @return the library's folder
     * @throws KilnException if a model cannot be compiled, or the expected answers are unknown
     */
    public Path run() {
        String target = spec.boards().find(spec.board()).target();
        List<CompiledModel> compiled =
                spec.models().stream().map(model -> compile(model, target)).toList();
        List<VerificationCases> proof = proof(compiled);
        SourceLibrary library = library(target, compiled, proof);
        Path parent = spec.layout().out().resolve("export").resolve(form.text());
        Path folder = parent.resolve(library.name());
        FreshFolder.clear(folder);
        SortedMap<String, Bytes> files = FormFiles.of(form, library);
        files.forEach((path, content) -> WholeFiles.write(folder.resolve(path), content.toArray()));
        form.archive().ifPresent(name -> archive(parent.resolve(FormFiles.filled(name, library)), library, files));
        int cases = proof.stream().mapToInt(ProofSource::cases).sum();
        log.info("Library " + folder + ": " + files.size() + " files, an example that proves " + cases + " cases");
        return folder;
    }

    /** Writes the archive of a library. A pack's files lie at its root; other archives hold the folder. */
    private void archive(Path file, SourceLibrary library, SortedMap<String, Bytes> files) {
        SortedMap<String, Bytes> entries = files;
        if (form != SourceForm.CMSIS_PACK) {
            entries = new TreeMap<>();
            for (String path : files.keySet()) {
                entries.put(library.name() + "/" + path, files.get(path));
            }
        }
        WholeFiles.write(file, StoredZip.of(entries));
        log.info("Archive " + file);
    }

    private CompiledModel compile(ModelSource model, String target) {
        return ModelCompiler.compile(new CompileRequest(
                model.input(), CodeTarget.of(target), spec.options(), new QuantizedFiles(spec, log).request(model)));
    }

    private List<VerificationCases> proof(List<CompiledModel> compiled) {
        Problems problems = new Problems(Failure.CONFIG);
        TestVectors vectors = TestVectors.of(spec, compiled.size() > 1);
        List<VerificationCases> models = IntStream.range(0, compiled.size())
                .mapToObj(i -> {
                    CompiledModel model = compiled.get(i);
                    RoundedModel rounded = model.quantized().isPresent()
                            ? RoundedModel.alone(model.imported())
                            : RoundedModel.of(
                                    model.imported(),
                                    spec.options().reading(),
                                    spec.models().get(i));
                    return VerificationCases.of(model.library().metadata(), rounded, vectors, problems);
                })
                .toList();
        for (VerificationCases model : models) {
            if (model.cases().isEmpty()) {
                problems.add(
                        "there is no vector for the example",
                        "model `" + model.model().name() + "`",
                        "test vectors or at least one random case",
                        "Set kiln.verify.vectors or kiln.verify.samples");
            }
        }
        problems.throwIfAny();
        return models;
    }

    private SourceLibrary library(String target, List<CompiledModel> compiled, List<VerificationCases> proof) {
        List<ModelLibrary> libraries = IntStream.range(0, compiled.size())
                .mapToObj(i ->
                        AudioInput.before(spec.models().get(i), compiled.get(i).library(), log))
                .toList();
        List<String> names =
                libraries.stream().map(one -> one.metadata().name()).toList();
        String name = "kiln_" + String.join("_", names);
        SortedMap<String, Bytes> sources = new TreeMap<>();
        SortedMap<String, Bytes> headers = new TreeMap<>();
        for (ModelLibrary library : libraries) {
            library.artifacts().of(ArtifactKind.SOURCE).forEach(file -> sources.put(file.fileName(), file.content()));
            library.artifacts().of(ArtifactKind.HEADER).forEach(file -> headers.put(file.fileName(), file.content()));
        }
        Set<String> shared = new HashSet<>();
        for (Artifact file : RuntimeFiles.runtime(RuntimeFeature.usedBy(sources.values()))) {
            String path = file.fileName();
            if (path.startsWith(INCLUDE)) {
                String header = path.substring(INCLUDE.length());
                headers.put(name + "/" + header, file.content());
                shared.add(header);
            } else {
                sources.put(path.substring(path.lastIndexOf('/') + 1), file.content());
            }
        }
        // Two libraries may be of two versions of Kiln: each includes its own headers of the runtime, whatever folders
        // the compiler searches first.
        UnaryOperator<String> own = header -> shared.contains(header) ? name + "/" + header : header;
        Stream.of(sources, headers)
                .forEach(files ->
                        files.replaceAll((path, content) -> Bytes.ofText(CText.withIncludes(content.text(), own))));
        SortedMap<String, Bytes> example = new TreeMap<>(ResourceTree.read("export/proof"));
        example.put("kiln_proof.c", Bytes.ofText(ProofSource.print(proof)));
        return new SourceLibrary(name, version, target, names, sources, headers, example);
    }

    /** A library in the form of a build system: its files by path. */
    private record FormFiles(SourceForm form, SourceLibrary library) {
        /** The files. Templates replace a model's file of the same name, so that it never hides one of them. */
        static SortedMap<String, Bytes> of(SourceForm form, SourceLibrary library) {
            FormFiles files = new FormFiles(form, library);
            TreeMap<String, Bytes> all = new TreeMap<>();
            library.sources().forEach((name, content) -> all.put(form.sources() + "/" + name, content));
            library.headers().forEach((name, content) -> all.put(form.headers() + "/" + name, content));
            library.proof().forEach((name, content) -> all.put(form.proof() + "/" + name, content));
            Map<String, Bytes> own = files.templates(form.text(), "");
            all.putAll(files.templates("headers", form.headers() + "/"));
            // The plain program, for forms that have none of their own.
            if (own.keySet().stream().noneMatch(name -> name.startsWith(form.proof() + "/"))) {
                all.putAll(files.templates("program", form.proof() + "/"));
            }
            all.putAll(own);
            all.putAll(files.templates("licence", ""));
            return all;
        }

        /** The templates of a folder with their values, by path below a folder of the library. */
        private Map<String, Bytes> templates(String folder, String below) {
            Map<String, String> values = values();
            Map<String, Bytes> filled = new TreeMap<>();
            ResourceTree.read("export/" + folder)
                    .forEach((name, content) -> filled.put(
                            below + TextTemplate.filled(name, values),
                            Bytes.ofText(TextTemplate.filled(content.text(), values))));
            return filled;
        }

        /** A text of the form with its values. */
        static String filled(String template, SourceLibrary library) {
            return TextTemplate.filled(template, Map.of("NAME", library.name(), "VERSION", library.version()));
        }

        private Map<String, String> values() {
            Map<String, String> values = new LinkedHashMap<>();
            values.put("NAME", library.name());
            values.put("MACRO", library.name().toUpperCase(Locale.ROOT));
            values.put("VERSION", library.version());
            values.put("MODELS", String.join(", ", library.models()));
            values.put("TARGET", library.target());
            values.put("SOURCES", lines("\n"));
            values.put("SOURCE_WORDS", lines(" \\\n"));
            values.put(
                    "SOURCE_ELEMENTS",
                    library.sources().keySet().stream()
                            .map(name -> "        <file category=\"" + (name.endsWith(".c") ? "sourceC" : "sourceAsm")
                                    + "\" name=\"" + form.sources() + "/" + name + "\"/>")
                            .collect(Collectors.joining("\n")));
            values.put(
                    "INCLUDES",
                    library.models().stream()
                            .map(model -> "#include <" + new InterfaceNames(model).tensorsHeader() + ">\n#include <"
                                    + new InterfaceNames(model).header() + ">")
                            .collect(Collectors.joining("\n")));
            values.put("CORE", core());
            return values;
        }

        private String lines(String between) {
            return library.sources().keySet().stream()
                    .map(name -> "    " + form.sources() + "/" + name)
                    .collect(Collectors.joining(between));
        }

        /** The requirement of a core, as packs name cores: {@code cortex-m0plus} is Cortex-M0+. Without a core there is none. */
        private String core() {
            return Target.parse(library.target())
                    .mcpu()
                    .filter(cpu -> cpu.startsWith("cortex-m"))
                    .map(cpu -> cpu.replace("plus", "#").replaceFirst("[+].*", ""))
                    .map(cpu -> cpu.replace("cortex-m", "Cortex-M").replace('#', '+'))
                    .map(cpu -> "\n      <require Dcore=\"" + cpu + "\"/>")
                    .orElse("");
        }
    }

    /**
     * Models as C, with the runtime that they need, before a build system gives them its form.
     *
     * @param name name of the library: letters, digits and underscores
     * @param version three numbers with dots between them
     * @param target the target string of which the C was made
     * @param models names of the models
     * @param sources C and assembly by file name
     * @param headers headers by path below the folder of headers
     * @param proof the files of the example that proves the answers, by file name
     */
    private record SourceLibrary(
            String name,
            String version,
            String target,
            List<String> models,
            SortedMap<String, Bytes> sources,
            SortedMap<String, Bytes> headers,
            SortedMap<String, Bytes> proof) {
        SourceLibrary {
            models = List.copyOf(models);
            sources = Collections.unmodifiableSortedMap(new TreeMap<>(sources));
            headers = Collections.unmodifiableSortedMap(new TreeMap<>(headers));
            proof = Collections.unmodifiableSortedMap(new TreeMap<>(proof));
        }
    }
}
