// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.projectapi;

import io.kiln.artifact.ArchivePaths;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.base.WholeFiles;
import io.kiln.device.projectapi.ServerInfo.ProjectOption.OptionValues;
import io.kiln.firmware.FirmwareRequest.ImageOptions;
import io.kiln.firmware.TrustedArchives;
import io.kiln.firmware.app.DefaultApplication.Application;
import io.kiln.flow.Flow;
import io.kiln.flow.projectapi.TemplateStep.TemplateFolder;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.resolve.ModelFiles.ModelArchives.Archive;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.ArchiveSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.MachineSpec;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.BuildSpec.VerifyOn;
import io.kiln.flow.spec.BuildSpec.VerifySpec;
import io.kiln.flow.spec.CompilerSpec;
import io.kiln.flow.spec.ImageSpec;
import io.kiln.flow.spec.ImageSpec.CodeSpec;
import io.kiln.flow.spec.UpdateSpec;
import io.kiln.mlf.ModelLibraryFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.Collectors;

/**
 * A generated project: the archive as {@code model.tar} and unpacked in {@code model}, the C runtime in {@code crt} with its {@code
 * crt_config}, the user's own C and boards in {@code src/main}, and in {@code build} the C project that is compiled and what
 * comes of it.
 *
 * @param directory the folder
 * @param settings what the server was given
 */
record ProjectFolder(Path directory, ProjectSettings settings) {
    /** Name of the archive, which makes a folder a generated project. */
    static final String ARCHIVE = "model.tar";

    private static final String BASE = "model";
    private static final String CONFIG = "crt_config";
    private static final String CONFIG_FILE = "crt_config.h";

    /**
     * Generates a project; the caller removes what a failure leaves.
     *
     * @param template the server's own folder
     */
    static void generate(Path template, Path project, Path archive, ProjectSettings settings, Flow flow) {
        Archive model = ModelArchives.read(archive);
        OptionValues options = new OptionValues(settings.options());
        options.text(ProjectOptions.EXTRA_FILES).ifPresent(tar -> unpackExtra(Path.of(tar), project));
        WholeFiles.copy(archive, project.resolve(ARCHIVE));
        unpack(model.files(), project.resolve(BASE));
        ProjectSettings own = settings.with(options, trustOf(model, settings.trusted()));
        TemplateFolder.copy(template, project, own);
        makeFolder(project.resolve("src").resolve("main").resolve("c"));
        ProjectFolder folder = new ProjectFolder(project, own);
        flow.generate(folder.spec());
        flow.assemble(folder.spec());
        folder.copyRuntime();
    }

    /**
     * The trust that a project needs for its copy of an archive. The copy has another name, so that an archive that was trusted by
     * name is now trusted by its digest.
     */
    private static Set<String> trustOf(Archive archive, TrustedArchives trusted) {
        return archive.models().stream()
                .map(ModelLibrary::origin)
                .flatMap(Optional::stream)
                .filter(trusted::contains)
                .map(origin -> "sha256:" + origin.sha256())
                .collect(Collectors.toSet());
    }

    private static void unpackExtra(Path tar, Path project) {
        SortedMap<String, Bytes> files = ModelLibraryFormat.files(tar);
        unpack(files, project);
    }

    private static void unpack(SortedMap<String, Bytes> files, Path folder) {
        WholeFiles.write(folder, files);
    }

    private static void makeFolder(Path folder) {
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw FileFailure.of("cannot create", folder, e);
        }
    }

    /** The part of the runtime that the project uses, where TVM's templates have it. */
    private void copyRuntime() {
        Path runtime = spec().layout().firmware().resolve(ArchivePaths.RUNTIME);
        Path crt = directory.resolve("crt");
        TemplateFolder.copyFiles(runtime, crt);
        Path config = crt.resolve(ArchivePaths.INCLUDE).resolve(CONFIG_FILE);
        WholeFiles.copy(config, directory.resolve(CONFIG).resolve(CONFIG_FILE));
    }

    BuildSpec spec() {
        OptionValues options = new OptionValues(settings.options());
        boolean isHostDriven = options.text(ProjectOptions.PROJECT_TYPE)
                .filter(ProjectOptions.HOST_DRIVEN::equals)
                .isPresent();
        return new BuildSpec(
                new Layout(directory, directory.resolve("build"), BASE),
                List.of(new ModelSource(directory.resolve(ARCHIVE), "default")),
                new MachineSpec(
                        options.text(ProjectOptions.BOARD).orElse(""),
                        options.text(ProjectOptions.TOOLCHAIN),
                        settings.boardSources(),
                        UpdateSpec.NONE),
                CompilerSpec.DEFAULT,
                ArchiveSpec.DEFAULT,
                new ImageSpec(
                        new ImageOptions(isHostDriven ? Application.RPC : Application.CONSOLE, settings.trusted()),
                        CodeSpec.NONE,
                        compilerFlags(options),
                        false,
                        new VerifySpec(VerifyOn.NONE, Optional.empty(), 0, 0),
                        Optional.empty()),
                List.of());
    }

    private static List<String> compilerFlags(OptionValues options) {
        List<String> flags = new ArrayList<>();
        for (String word :
                options.text(ProjectOptions.DEFINITIONS).orElse("").strip().split("\\s+", -1)) {
            if (!word.isEmpty()) {
                flags.add(word.startsWith("-D") ? word : "-D" + word);
            }
        }
        if (options.flag(ProjectOptions.WARNINGS)) {
            flags.add("-Werror");
        }
        return flags;
    }

    /**
     * Values that a request brings, with those of the project for all others.
     *
     * @throws KilnException if it brings another value of an option that is fixed when a project is generated
     */
    OptionValues options(OptionValues given) {
        OptionValues own = new OptionValues(settings.options());
        OptionValues all = given.orElse(own);
        Collection<String> changed = ProjectOptions.FIXED.stream()
                .filter(name -> !all.node().path(name).equals(own.node().path(name)))
                .filter(name -> !isDefault(all, name))
                .toList();
        if (!changed.isEmpty()) {
            throw Failure.API.exception(
                    "the project was generated with other values of " + String.join(", ", changed),
                    directory.toString(),
                    changed.stream()
                            .map(name -> name + " " + own.node().path(name))
                            .collect(Collectors.joining(", ")),
                    "Generate another project");
        }
        return all;
    }

    /** Whether a request's value is the default of an option, which a client that knows nothing of a project sends. */
    private static boolean isDefault(OptionValues values, String name) {
        return name.equals(ProjectOptions.WARNINGS) && !values.flag(name);
    }
}
