// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.resolve;

import io.kiln.artifact.CNames;
import io.kiln.artifact.ExecutorKind;
import io.kiln.artifact.ModelMetadata.Io;
import io.kiln.base.GitLfs;
import io.kiln.base.Problems;
import io.kiln.compile.Frontends;
import io.kiln.compile.RamOptions;
import io.kiln.firmware.app.Application;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.UpdateSpec;
import io.kiln.flow.spec.VerifyOn;
import io.kiln.flow.spec.VerifyOver;
import io.kiln.frontend.ReadLimits;
import io.kiln.preprocess.Preprocessing;
import java.nio.file.Files;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/** Checks a {@link BuildSpec} for all errors before any work is done. */
final class SpecChecks {
    private static final Set<Integer> MLF_VERSIONS = Set.of(5, 7);

    private SpecChecks() {}

    /**
     * Checks names, files and options; boards and toolchains are checked where they are resolved.
     *
     * @param missing gets missing files, which another plugin may still create
     */
    static void check(BuildSpec spec, Problems problems, Problems missing) {
        checkModels(spec, problems, missing);
        spec.malformed().forEach(problems::add);
        if (!MLF_VERSIONS.contains(spec.archive().version())) {
            problems.add(
                    "kiln.mlfVersion is '" + spec.archive().version() + "'",
                    "",
                    "one of 5, 7",
                    "Change kiln.mlfVersion");
        }
        checkServer(spec, problems);
        checkLinker(spec, problems);
        spec.image().code().check(problems);
        if (spec.calls().convention().hasPackedEntry() && spec.calls().io() == Io.WORKSPACE) {
            problems.add(
                    "kiln.io is workspace with kiln.interfaceApi packed: packed functions take each tensor by itself",
                    "",
                    "kiln.io caller, or kiln.interfaceApi c",
                    "Leave kiln.io out");
        }
        spec.compiler().options().passes().check(problems);
        spec.quantize().check(problems, missing);
        checkVerify(spec.verify(), problems, missing);
        spec.update().check(problems);
        RamOptions ram = spec.compiler().options().ram();
        if (spec.update().hasSlots() && (ram.code().isAsked() || ram.weights().isAsked())) {
            problems.add(
                    "kiln.ram copies models to RAM with kiln.update slots: the firmware's start-up code knows nothing of later models",
                    "",
                    "models that stay in their slots",
                    "Leave kiln.ram.code and kiln.ram.weights out");
        }
    }

    private static void checkVerify(BuildSpec.VerifySpec verify, Problems problems, Problems missing) {
        if (verify.samples() < 0) {
            problems.add("kiln.verify.samples is " + verify.samples(), "", "0 or more", "");
        }
        if (verify.program().isNegative()) {
            problems.add(
                    "kiln.verify.program is " + verify.program().toSeconds(),
                    "",
                    "seconds, or 0 to skip the project's own program",
                    "");
        }
        verify.vectors()
                .filter(folder -> !Files.isDirectory(folder))
                .ifPresent(folder -> (Files.exists(folder) ? problems : missing)
                        .add(
                                "the folder of test vectors does not exist",
                                folder.toString(),
                                "a folder with input_0.bin and so on",
                                "Correct kiln.verify.vectors"));
    }

    /** Checks the models' functions for a server: it finds functions by name, and only their own checks compare arguments with the expected types. */
    private static void checkServer(BuildSpec spec, Problems problems) {
        boolean isCompiled = spec.models().stream().anyMatch(model -> !ModelArchives.accepts(model.file()));
        boolean isOver = spec.verify().over() == VerifyOver.RPC && spec.verify().on() != VerifyOn.NONE;
        if ((spec.application() == Application.RPC || isOver)
                && isCompiled
                && (!spec.calls().packed().systemLibrary()
                        || !spec.calls().packed().checked())) {
            problems.add(
                    (isOver ? "kiln.verify.over" : "kiln.application")
                            + " is rpc, and the models have no system library of packed functions that check their"
                            + " arguments",
                    "",
                    "kiln.interfaceApi packed, with kiln.systemLib and without kiln.disableAssert",
                    "Set kiln.interfaceApi to packed");
        }
    }

    /** A linker script of the project's own has no places for what is replaced on its own. */
    private static void checkLinker(BuildSpec spec, Problems problems) {
        boolean hasSlots = spec.update().models() == UpdateSpec.Models.SLOTS;
        boolean hasParameters =
                spec.calls().executor() == ExecutorKind.GRAPH && !spec.calls().linkParams();
        if (spec.image().code().own().linker().isPresent() && (hasSlots || hasParameters)) {
            problems.add(
                    (hasSlots ? "kiln.update is slots" : "kiln.linkParams is false")
                            + ", and the project has a linker script of its own, which has no place for that",
                    "kiln.linker",
                    "the board's linker script",
                    "");
        }
    }

    private static void checkModels(BuildSpec spec, Problems problems, Problems missing) {
        if (spec.models().isEmpty()) {
            missing.add(
                    "no model is given",
                    "",
                    "kiln.model, or one file in " + spec.layout().userModels(),
                    "Put " + ModelFiles.EXPECTED + " there, or name one with -Dkiln.model=<file>");
        }
        Set<String> seen = new HashSet<>();
        for (BuildSpec.ModelSource model : spec.models()) {
            String name = model.name();
            CNames.modelNameProblem(name, model.file().toString()).ifPresent(problems::add);
            // File names are derived from model names, and some file systems ignore case.
            if (!seen.add(name.toLowerCase(Locale.ROOT))) {
                problems.add(
                        "the model name '" + name + "' is given twice",
                        model.file().toString(),
                        "a different name for every model",
                        "Set <name> in each <model> of <models>");
            }
            checkFile(model, spec.options().reading().limits(), problems, missing);
            problems.collect(model::shapes);
            checkPreprocessing(model, problems, missing);
        }
    }

    private static void checkPreprocessing(BuildSpec.ModelSource model, Problems problems, Problems missing) {
        model.preprocessing().ifPresent(file -> {
            if (!Files.exists(file)) {
                missing.add(
                        "the description of the signal processing does not exist",
                        file.toString(),
                        "a YAML file",
                        "Correct kiln.preprocess");
            } else if (ModelArchives.accepts(model.file())) {
                problems.add(
                        "signal processing is not put before the models of an archive",
                        file.toString(),
                        "a model that Kiln compiles",
                        "Put it before the model when the archive is made");
            } else {
                problems.collect(() -> Preprocessing.read(file));
            }
        });
    }

    private static void checkFile(BuildSpec.ModelSource model, ReadLimits limits, Problems problems, Problems missing) {
        String where = model.file().toString();
        if (Files.isDirectory(model.file())) {
            problems.add("the model is a folder", where, ModelFiles.EXPECTED, "Correct kiln.model");
        } else if (!Files.exists(model.file())) {
            missing.add("the model file does not exist", where, ModelFiles.EXPECTED, "Correct kiln.model");
        } else if (!Files.isRegularFile(model.file())) {
            problems.add("the model is not a file", where, ModelFiles.EXPECTED, "Correct kiln.model");
        } else if (!Files.isReadable(model.file())) {
            problems.add("the model file cannot be read", where, "a readable model", "Change its permissions");
        }
        GitLfs.pointer(model.file()).ifPresent(problems::add);
        Frontends.parameters(model.file(), limits).stream()
                .flatMap(params -> GitLfs.pointer(params).stream())
                .forEach(problems::add);
        Frontends.parameters(model.file(), limits).stream()
                .filter(params -> Files.exists(params) && (!Files.isRegularFile(params) || !Files.isReadable(params)))
                .forEach(params -> problems.add(
                        "the parameters beside the model cannot be read",
                        params.toString(),
                        "a readable .params file, or none",
                        "Change its permissions, or remove it"));
    }
}
