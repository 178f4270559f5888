// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.InterfaceNames.Side;
import io.kiln.artifact.ModelLibrary;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.RuntimeFeature;
import io.kiln.artifact.RuntimeFiles;
import io.kiln.base.Bytes;
import io.kiln.base.CText;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.Log;
import io.kiln.base.PlainZip.StoredZip;
import io.kiln.base.Problems;
import io.kiln.base.ResourceTree;
import io.kiln.base.TextTemplate;
import io.kiln.base.WholeFiles;
import io.kiln.compile.CodeTarget;
import io.kiln.compile.CompileRequest;
import io.kiln.compile.CompiledModel;
import io.kiln.compile.ModelCompiler;
import io.kiln.flow.build.GenerateStep.AudioInput;
import io.kiln.flow.build.QuantizedFiles;
import io.kiln.flow.export.LibraryExport.Exportable;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.verify.RoundedModel;
import io.kiln.flow.verify.VerificationCases;
import io.kiln.flow.verify.VerificationCases.TestVectors;
import io.kiln.report.VerifyReport.Tolerance;
import io.kiln.target.Target;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
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
        WholeFiles.clear(folder);
        SortedMap<String, Bytes> files = FormFiles.of(form, library);
        WholeFiles.write(folder, files);
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

    /** Prints {@code kiln_proof.c}: the vectors of a verification, and functions that run the models on them and compare. */
    private static final class ProofSource {
        private static final int ALIGNMENT = 16;
        private static final int BYTES_IN_A_LINE = 20;

        /** Most bytes of cases in an example, so that it fits beside the models. One case of each model is always included. */
        private static final long MOST_BYTES = 1 << 16;

        private final StringBuilder out = new StringBuilder();

        private ProofSource() {}

        static String print(List<VerificationCases> models) {
            ProofSource source = new ProofSource();
            source.head(models);
            models.forEach(source::model);
            source.all(models);
            return source.out.toString();
        }

        /** Cases of a model that the example holds. */
        static int cases(VerificationCases model) {
            long one = tensors(model.model()).mapToLong(TensorInfo::bytes).sum();
            long fit = Math.max(1, MOST_BYTES / Math.max(1, one));
            return (int) Math.min(model.cases().size(), fit);
        }

        private static Stream<TensorInfo> tensors(ModelMetadata model) {
            return Stream.concat(model.inputs().stream(), model.outputs().stream());
        }

        private void head(List<VerificationCases> models) {
            line("/* SPDX-License-Identifier: Apache-2.0");
            line(" * Made by Kiln: vectors whose answers are known. This file is yours to use without conditions.");
            line(" */");
            line("#include \"kiln_proof.h\"");
            models.forEach(model ->
                    line("#include <" + new InterfaceNames(model.model().name()).header() + ">"));
            line("#include <string.h>");
            line("");
            boolean isFloat = models.stream()
                    .flatMap(model -> model.model().outputs().stream())
                    .anyMatch(output -> output.dtype().isFloat());
            if (isFloat) {
                line("/* Whether floats are as close as compilers leave them; NaN matches NaN, and what is infinite"
                        + " itself alone. */");
                line("static int is_close(float actual, float expected) {");
                line("  float distance = actual > expected ? actual - expected : expected - actual;");
                line("  float size = expected < 0.0f ? -expected : expected;");
                line("  return actual == expected || (actual != actual && expected != expected) ||");
                line("         (expected - expected == 0.0f &&");
                line("          distance <= " + (float) Tolerance.FLOAT.absolute() + "f + "
                        + (float) Tolerance.FLOAT.relative() + "f * size);");
                line("}");
                line("");
            }
        }

        private void model(VerificationCases model) {
            String name = model.model().name();
            int cases = cases(model);
            for (int i = 0; i < model.model().inputs().size(); i++) {
                int index = i;
                vectors(
                        name + "_input_" + i,
                        model.model().inputs().get(i),
                        model.cases().subList(0, cases).stream()
                                .map(each -> each.inputs().get(index))
                                .toList());
            }
            for (int i = 0; i < model.model().outputs().size(); i++) {
                int index = i;
                TensorInfo output = model.model().outputs().get(i);
                vectors(
                        name + "_output_" + i,
                        output,
                        model.expected().subList(0, cases).stream()
                                .map(each -> each.get(index))
                                .toList());
                line("static uint8_t " + name + "_answer_" + i + "[" + padded(output) + "] __attribute__((aligned("
                        + ALIGNMENT + ")));");
                line("");
            }
            function(model.model(), cases);
        }

        /** Prints the vectors of a tensor: one row for each case, each as aligned as any element needs. */
        private void vectors(String name, TensorInfo tensor, List<Bytes> rows) {
            line("/* " + tensor.dtype().text() + tensor.shape() + " */");
            line("static const uint8_t " + name + "[" + rows.size() + "][" + padded(tensor)
                    + "] __attribute__((aligned(" + ALIGNMENT + "))) = {");
            for (Bytes row : rows) {
                line("  {");
                byte[] bytes = row.toArray();
                for (int at = 0; at < bytes.length; at += BYTES_IN_A_LINE) {
                    StringBuilder text = new StringBuilder("   ");
                    for (int i = at; i < Math.min(at + BYTES_IN_A_LINE, bytes.length); i++) {
                        text.append(String.format(Locale.ROOT, " 0x%02x,", bytes[i] & 0xff));
                    }
                    line(text.toString());
                }
                line("  },");
            }
            line("};");
            line("");
        }

        private static long padded(TensorInfo tensor) {
            return (tensor.bytes() + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        }

        private void function(ModelMetadata model, int cases) {
            String name = model.name();
            InterfaceNames names = new InterfaceNames(name);
            line("/* Number of wrong answers of " + name + " in " + cases + " cases. */");
            line("static int prove_" + name + "(void) {");
            line("  int wrong = 0;");
            line("  for (int i = 0; i < " + cases + "; ++i) {");
            line("    " + names.struct(Side.INPUTS) + " inputs;");
            line("    " + names.struct(Side.OUTPUTS) + " outputs;");
            line("    int is_right;");
            for (int i = 0; i < model.inputs().size(); i++) {
                line("    inputs." + model.inputs().get(i).cName() + " = " + name + "_input_" + i + "[i];");
            }
            for (int i = 0; i < model.outputs().size(); i++) {
                line("    outputs." + model.outputs().get(i).cName() + " = " + name + "_answer_" + i + ";");
            }
            if (tensors(model).noneMatch(tensor -> tensor.cName().equalsIgnoreCase("state"))) {
                line("#ifdef " + names.stateSize());
                line("    (void)" + names.reset() + "();");
                line("#endif");
            }
            line("    is_right = " + names.run() + "(&inputs, &outputs) == 0;");
            for (int i = 0; i < model.outputs().size(); i++) {
                compare(name, i, model.outputs().get(i));
            }
            line("    wrong += !is_right;");
            line("  }");
            line("  return wrong;");
            line("}");
            line("");
        }

        private void compare(String name, int index, TensorInfo output) {
            String answer = name + "_answer_" + index;
            String expected = name + "_output_" + index + "[i]";
            if (output.dtype().isFloat()) {
                line("    for (int k = 0; k < " + output.elements() + "; ++k) {");
                line("      float actual;");
                line("      float wanted;");
                line("      memcpy(&actual, " + answer + " + 4 * k, sizeof actual);");
                line("      memcpy(&wanted, " + expected + " + 4 * k, sizeof wanted);");
                line("      is_right &= is_close(actual, wanted);");
                line("    }");
            } else {
                line("    is_right &= memcmp(" + answer + ", " + expected + ", " + output.bytes() + ") == 0;");
            }
        }

        private void all(List<VerificationCases> models) {
            int cases = models.stream().mapToInt(ProofSource::cases).sum();
            line("int kiln_proof_cases(void) {");
            line("  return " + cases + ";");
            line("}");
            line("");
            line("int kiln_proof(void) {");
            line("  int wrong = 0;");
            models.forEach(model -> line("  wrong += prove_" + model.model().name() + "();"));
            line("  return wrong;");
            line("}");
        }

        private void line(String text) {
            out.append(text).append('\n');
        }
    }

    /** Build systems that take a model as a library of C sources. Each has its templates in the resources below {@code export/}. */
    enum SourceForm {
        /** A makefile. */
        C("src", "include", "example", ""),
        /** A package of CMake, to be added as a folder or installed. */
        CMAKE("src", "include", "example", ""),
        /** A module of Zephyr. */
        ZEPHYR("src", "include", "samples/proof/src", ""),
        /** A component of ESP-IDF. */
        ESP_IDF("src", "include", "examples/proof/main", ""),
        /** A library of Arduino, whose only include folder is that of the sources. */
        ARDUINO("src", "src", "examples/Proof", "@NAME@-@VERSION@.zip"),
        /** A library of PlatformIO. */
        PLATFORMIO("src", "include", "examples/proof/src", ""),
        /** An Open-CMSIS-Pack. */
        CMSIS_PACK("src", "include", "example", "Kiln.@NAME@.@VERSION@.pack");

        private final String sources;
        private final String headers;
        private final String proof;
        private final String archive;

        SourceForm(String sources, String headers, String proof, String archive) {
            this.sources = sources;
            this.headers = headers;
            this.proof = proof;
            this.archive = archive;
        }

        /**
         * Reads the value of {@code kiln.export}.
         *
         * @param others values that do not name a build system
         * @throws KilnException for a value that does not exist, with the list of values
         */
        static SourceForm of(String text, String others) {
            return Arrays.stream(values())
                    .filter(form -> form.text().equals(text))
                    .findFirst()
                    .orElseThrow(() -> Failure.CONFIG.exception(
                            "kiln.export is '" + text + "'",
                            "",
                            "one of " + others + ", "
                                    + Arrays.stream(values())
                                            .map(SourceForm::text)
                                            .collect(Collectors.joining(", ")),
                            "Change kiln.export"));
        }

        /** The build system's value of {@code kiln.export}, and the folder of its templates. */
        String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /** Folder of the sources. */
        String sources() {
            return sources;
        }

        /** Folder of the headers. */
        String headers() {
            return headers;
        }

        /** Folder of the example, which proves the answers. */
        String proof() {
            return proof;
        }

        /** Name of the archive in which the build system expects the library, as a template; empty if it takes the folder. */
        Optional<String> archive() {
            return archive.isEmpty() ? Optional.empty() : Optional.of(archive);
        }
    }
}
