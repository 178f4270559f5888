// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.artifact.ModelIdentity;
import io.kiln.base.Digests;
import io.kiln.base.FileFailure;
import io.kiln.base.WholeFiles;
import io.kiln.compile.Frontends;
import io.kiln.firmware.FirmwareProject;
import io.kiln.firmware.SourceUnit;
import io.kiln.firmware.image.LinkedArchives;
import io.kiln.flow.resolve.ModelFiles.ModelArchives;
import io.kiln.flow.resolve.ResolvedBuild;
import io.kiln.flow.spec.BuildSpec;
import io.kiln.flow.spec.BuildSpec.Layout;
import io.kiln.flow.spec.BuildSpec.ModelSource;
import io.kiln.flow.spec.CompilerSpec.FitSpec;
import io.kiln.flow.state.PluginVersion;
import io.kiln.report.Json;
import io.kiln.report.bom.CycloneDx;
import io.kiln.report.bom.ImageComponent;
import io.kiln.report.bom.ImageComponent.Kind;
import io.kiln.report.bom.ImageComponent.Licence;
import io.kiln.report.bom.Notice;
import io.kiln.report.bom.Provenance;
import io.kiln.report.bom.Provenance.Resource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Writes the documents that go with an image: its bill of materials, its notice of licences, and its provenance. */
final class ImagePapers {
    /** Extensions of the documents, after the image's name. */
    static final String BILL = "cdx.json";

    static final String NOTICE = "notice.txt";
    static final String PROVENANCE = "provenance.json";

    private static final String BUILT_IN = "built in";
    private static final Pattern GCC_VERSION = Pattern.compile("/gcc(?:-cross)?/[^/]+/([0-9][^/]*)/");
    private static final Pattern NEWLIB_VERSION = Pattern.compile("_NEWLIB_VERSION \"([^\"]{1,40})\"");
    private static final Pattern PICOLIBC_VERSION = Pattern.compile("_PICOLIBC_VERSION__? \"([^\"]{1,40})\"");
    private static final Pattern C_LIBRARY =
            Pattern.compile("lib(?:c|m|g|nosys|rdimon|stdc\\+\\+|supc\\+\\+)(?:_nano)?\\.a");

    private final ResolvedBuild build;
    private final BuildSpec spec;
    private final Layout layout;
    private final FirmwareProject project;

    ImagePapers(ResolvedBuild build, FirmwareProject project) {
        this.build = build;
        this.spec = build.spec();
        this.layout = spec.layout();
        this.project = project;
    }

    void write() {
        List<ImageComponent> parts = components();
        Path elf = layout.image("elf");
        String name = elf.getFileName().toString();
        String version = PluginVersion.released();
        Json.write(
                layout.image(BILL),
                CycloneDx.of(name, Digests.sha256(elf), version, spec.archive().timestamp(), parts));
        WholeFiles.write(layout.image(NOTICE), Notice.of(name, parts));
        Json.write(layout.image(PROVENANCE), provenance());
    }

    /** The parts, in the order in which they are linked, libraries last. */
    List<ImageComponent> components() {
        List<ImageComponent> parts = new ArrayList<>();
        String version = PluginVersion.released();
        parts.add(new ImageComponent(
                Kind.LIBRARY,
                "Kiln runtime",
                version,
                Licence.APACHE,
                "",
                "The C runtime, and what Kiln adds to a program"));
        board().ifPresent(parts::add);
        spec.models().forEach(model -> parts.add(model(model)));
        if (project.units().stream().anyMatch(unit -> unit.path().startsWith(CmsisNnSources.FOLDER + "/"))) {
            parts.add(new ImageComponent(
                    Kind.LIBRARY, "CMSIS-NN", "", Licence.APACHE, "", "The sources that the models call"));
        }
        ownCode().ifPresent(parts::add);
        LinkedArchives.read(layout.image("map"), project.directory())
                .forEach((file, members) -> parts.add(component(file, members.size())));
        return parts;
    }

    /** The project's own code as a part; its licence is what all its sources state. */
    private Optional<ImageComponent> ownCode() {
        List<String> own = project.units().stream()
                .map(SourceUnit::path)
                .filter(this::isOwn)
                .toList();
        List<String> licences = own.stream()
                .map(path -> SourceLicences.of(project.directory().resolve(path)))
                .distinct()
                .sorted()
                .toList();
        boolean isStated = licences.stream().noneMatch(String::isEmpty);
        return own.isEmpty()
                ? Optional.empty()
                : Optional.of(new ImageComponent(
                        Kind.APPLICATION,
                        "The project's own code",
                        "",
                        isStated ? Licence.spdx(String.join(" AND ", licences)) : Licence.UNKNOWN,
                        "",
                        own.size() + " source files"));
    }

    private Optional<ImageComponent> board() {
        if (build.board().isHost()) {
            return Optional.empty();
        }
        String id = build.board().id();
        String origin = spec.boards().origin(id);
        boolean isBuiltIn = origin.equals(BUILT_IN);
        return Optional.of(new ImageComponent(
                Kind.LIBRARY,
                "Board " + id,
                isBuiltIn ? PluginVersion.released() : "",
                isBuiltIn ? Licence.APACHE : Licence.UNKNOWN,
                "",
                "Start-up code, console and timer; " + origin));
    }

    private static ImageComponent model(ModelSource model) {
        ModelIdentity identity = ModelIdentity.of(model.file(), model.version());
        boolean isArchive = ModelArchives.accepts(model.file());
        return new ImageComponent(
                Kind.MACHINE_LEARNING_MODEL,
                model.name(),
                identity.version(),
                Licence.UNKNOWN,
                identity.sha256(),
                model.file().getFileName() + (isArchive ? ", C of an archive" : ", as C; Kiln claims no rights in it"));
    }

    private Provenance provenance() {
        SortedMap<String, String> parameters = new TreeMap<>();
        parameters.put("kiln.board", spec.board());
        parameters.put(
                "kiln.optimize",
                spec.compiler().fit().isSought() ? FitSpec.FIT : spec.optimize().text());
        parameters.put("kiln.io", spec.calls().io().text());
        parameters.put("kiln.executor", spec.calls().executor().text());
        parameters.put("kiln.interfaceApi", spec.calls().convention().interfaceApi());
        parameters.put("kiln.application", spec.application().text());
        spec.toolchain().ifPresent(id -> parameters.put("kiln.toolchain", id));
        SortedMap<String, String> tools = new TreeMap<>();
        tools.put("toolchain", build.toolchain().id());
        tools.put("compiler", build.toolchain().version());
        tools.put("target", build.target());
        return Provenance.of(
                made(),
                PluginVersion.released(),
                parameters,
                tools,
                inputs(),
                spec.archive().timestamp());
    }

    private List<Resource> made() {
        return Stream.of("elf", "bin", "hex", "uf2")
                .map(layout::image)
                .filter(Files::isRegularFile)
                .map(file -> Resource.of(file.getFileName().toString(), Digests.sha256(file)))
                .toList();
    }

    private List<Resource> inputs() {
        List<Resource> inputs = new ArrayList<>();
        for (ModelSource model : spec.models()) {
            inputs.add(input(model.file()));
            Frontends.parameters(
                            model.file(), spec.options(build.board()).reading().limits())
                    .stream()
                    .filter(Files::isRegularFile)
                    .forEach(file -> inputs.add(input(file)));
        }
        build.board()
                .files()
                .forEach(
                        (name, content) -> inputs.add(Resource.of("board/" + name, Digests.sha256(content.toArray()))));
        Stream.concat(project.units().stream().map(SourceUnit::path), project.headers().stream())
                .filter(this::isOwn)
                .sorted()
                .forEach(path -> inputs.add(
                        Resource.of(path, Digests.sha256(project.directory().resolve(path)))));
        return inputs;
    }

    private boolean isOwn(String path) {
        return project.code().folderOf(path).isPresent();
    }

    private static Resource input(Path file) {
        return Resource.of(file.getFileName().toString(), Digests.sha256(file));
    }

    /**
     * A library of which an image has members.
     *
     * @param file the library
     * @param members how many
     */
    private static ImageComponent component(Path file, int members) {
        String name = file.getFileName().toString();
        String path = file.toString().replace('\\', '/');
        String description = name + ", " + members + " of its files";
        if (name.startsWith("libgcc")) {
            return part(
                    "libgcc", gcc(path), Licence.spdx("GPL-3.0-or-later WITH GCC-exception-3.1"), file, description);
        }
        if (name.startsWith("libclang_rt")) {
            return part("compiler-rt", "", Licence.spdx("Apache-2.0 WITH LLVM-exception"), file, description);
        }
        if (C_LIBRARY.matcher(name).matches() && name.contains("c++")) {
            return part(
                    "libstdc++", gcc(path), Licence.spdx("GPL-3.0-or-later WITH GCC-exception-3.1"), file, description);
        }
        if (C_LIBRARY.matcher(name).matches() && path.contains("/picolibc/")) {
            Licence licence = Licence.named("the licences in picolibc's COPYING.picolibc");
            return part("picolibc", version(file, "picolibc.h", PICOLIBC_VERSION), licence, file, description);
        }
        if (C_LIBRARY.matcher(name).matches()) {
            Licence licence = Licence.named("the licences in newlib's COPYING.NEWLIB");
            return part("newlib", version(file, "_newlib_version.h", NEWLIB_VERSION), licence, file, description);
        }
        return part(name, "", Licence.UNKNOWN, file, description);
    }

    private static ImageComponent part(String name, String version, Licence licence, Path file, String description) {
        return new ImageComponent(Kind.LIBRARY, name, version, licence, Digests.sha256(file), description);
    }

    private static String gcc(String path) {
        Matcher matcher = GCC_VERSION.matcher(path);
        return matcher.find() ? matcher.group(1) : "";
    }

    /** The version that a header beside the library states. */
    private static String version(Path file, String header, Pattern pattern) {
        for (Path folder = file.getParent(); folder != null; folder = folder.getParent()) {
            Optional<String> version = stated(folder.resolve("include").resolve(header), pattern);
            if (version.isPresent()) {
                return version.get();
            }
        }
        return "";
    }

    private static Optional<String> stated(Path header, Pattern pattern) {
        if (Files.isRegularFile(header)) {
            Matcher matcher = pattern.matcher(WholeFiles.text(header));
            return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
        }
        return Optional.empty();
    }

    /** The licences that sources state at their beginning, by {@code SPDX-License-Identifier}. */
    static final class SourceLicences {
        /** An SPDX expression; the characters are those of SPDX 2.3, annex D. */
        private static final Pattern LICENCE = Pattern.compile(
                "SPDX-License-Identifier:[ \\t]*([A-Za-z0-9.+() -]{1,120}?)[ \\t]*(?:\\*/.*)?(?:\\R|\\z)");

        private static final int HEAD = 4096;

        private SourceLicences() {}

        /** The expression of a file; empty if it states none. */
        static String of(Path file) {
            try (InputStream in = Files.newInputStream(file)) {
                Matcher found = LICENCE.matcher(new String(in.readNBytes(HEAD), StandardCharsets.ISO_8859_1));
                return found.find() ? found.group(1).strip() : "";
            } catch (IOException e) {
                throw FileFailure.of("cannot read", file, e);
            }
        }
    }
}
