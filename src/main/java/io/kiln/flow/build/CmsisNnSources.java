// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.artifact.ModelLibrary;
import io.kiln.base.Bytes;
import io.kiln.base.CText;
import io.kiln.base.Failure;
import io.kiln.base.FileFailure;
import io.kiln.base.KilnException;
import io.kiln.firmware.FirmwareRequest.BroughtSources;
import io.kiln.firmware.SourceText;
import io.kiln.flow.spec.CompilerSpec.CodegenSpec;
import io.kiln.partition.cmsisnn.CmsisNnCodegen;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The sources of CMSIS-NN that models call, with what these call in turn, and its headers. */
public final class CmsisNnSources {
    /** The library's folder in the C project. */
    static final String FOLDER = "cmsis-nn";

    private static final String HEADERS = "Include";
    private static final String SOURCES = "Source";

    /** A header that the library includes and of which it uses nothing; the bundled compiler has none. */
    private static final String STANDARD_IO = "stdio.h";

    private static final String SUBSTITUTES = "substitutes";

    /** Folder of copies of headers, at the paths by which a copy of the library in another project's tree includes them. */
    private static final String ALIASES = "aliases";

    /** A path by which another project includes a header of its copy, such as {@code third_party/cmsis_nn/Include/arm_nnfunctions.h}. */
    private static final Pattern ALIAS = Pattern.compile("(?:[A-Za-z0-9_][A-Za-z0-9_.-]*/)+(Include/[A-Za-z0-9_./-]+)");

    private static final Pattern NAME = Pattern.compile("\\b[A-Za-z_][A-Za-z0-9_]*");

    /** The largest file that is read, and the most files. */
    private static final long LARGEST = 4 << 20;

    private static final int MOST_FILES = 2000;
    /** Directives, with the lines that continue them. */
    private static final Pattern DIRECTIVE = Pattern.compile("(?m)^[ \\t]*#(?:[^\\n\\\\]|\\\\\\r?\\n|\\\\)*+");

    /** A function's definition: a name, its parameters, the beginning of a body. */
    private static final Pattern DEFINITION = Pattern.compile("\\b([A-Za-z_][A-Za-z0-9_]*)\\s*\\([^(){};]*\\)\\s*\\{");

    /** What makes a function local to its file: {@code static}, and macros of CMSIS that stand for it. */
    private static final Pattern LOCAL = Pattern.compile("\\b(?:static|__STATIC_INLINE|__STATIC_FORCEINLINE)\\b");

    /** Keywords that precede parentheses and a block, as a function's name does. */
    private static final Set<String> STATEMENTS = Set.of("if", "while", "switch", "for");

    private final Map<String, Bytes> sources = new TreeMap<>();
    private final Map<String, String> definedIn = new HashMap<>();
    private final SortedMap<String, Bytes> taken = new TreeMap<>();

    private CmsisNnSources() {}

    /**
     * The library's files that the models need. C of archives gets the sources if there are any; without them, they are the
     * project's own.
     *
     * @throws KilnException if they need sources and there are none
     */
    public static BroughtSources of(CodegenSpec codegens, List<ModelLibrary> models) {
        List<Artifact> callers = models.stream()
                .flatMap(model -> model.artifacts().of(ArtifactKind.SOURCE).stream())
                .filter(source -> source.codegenId().equals(CmsisNnCodegen.NAME)
                        || (source.isForeign()
                                && codegens.cmsisNn().isPresent()
                                && CText.includes(source.text()).anyMatch(CmsisNnCodegen.HEADER::equals)))
                .toList();
        if (callers.isEmpty()) {
            return BroughtSources.NONE;
        }
        Path folder = codegens.cmsisNn()
                .orElseThrow(() -> Failure.LIBRARY.exception(
                        "the models call CMSIS-NN, whose sources are not there",
                        "kiln.cmsisNn",
                        "its folder, with " + HEADERS + " and " + SOURCES,
                        "Set kiln.cmsisNn to the folder, or to group:artifact:version of an archive with them"));
        CmsisNnSources found = new CmsisNnSources();
        found.readHeaders(folder.resolve(HEADERS));
        found.readSources(folder.resolve(SOURCES));
        found.take(callers.stream().map(Artifact::text).toList());
        return new BroughtSources(FOLDER, found.taken, found.includes(), found.substitutes());
    }

    /**
     * Folders of headers, with aliases: projects that carry a copy of the library, such as TensorFlow Lite Micro, include its
     * headers by their path in their own tree.
     */
    private List<String> includes() {
        SortedMap<String, Bytes> aliases = new TreeMap<>();
        taken.values().stream().flatMap(file -> CText.includes(file.text())).forEach(included -> {
            Matcher alias = ALIAS.matcher(included);
            if (alias.matches() && !included.contains("..") && taken.containsKey(alias.group(1))) {
                aliases.put(ALIASES + "/" + included, taken.get(alias.group(1)));
            }
        });
        taken.putAll(aliases);
        return aliases.isEmpty() ? List.of(HEADERS) : List.of(HEADERS, ALIASES);
    }

    private List<String> substitutes() {
        boolean isIncluded = taken.values().stream()
                .flatMap(file -> CText.includes(file.text()))
                .anyMatch(STANDARD_IO::equals);
        if (!isIncluded) {
            return List.of();
        }
        taken.put(SUBSTITUTES + "/" + STANDARD_IO, Bytes.ofText("""
            /* SPDX-License-Identifier: Apache-2.0
             *
             * For C libraries without this header: CMSIS-NN includes it and uses nothing of it.
             */
            """));
        return List.of(SUBSTITUTES);
    }

    private void readHeaders(Path folder) {
        walk(folder, ".h").forEach((name, content) -> taken.put(HEADERS + "/" + name, content));
    }

    private void readSources(Path folder) {
        walk(folder, ".c").forEach((name, content) -> {
            String path = SOURCES + "/" + name;
            sources.put(path, content);
            defined(content.text()).forEach(function -> definedIn.putIfAbsent(function, path));
        });
        walk(folder, ".h").forEach((name, content) -> taken.put(SOURCES + "/" + name, content));
    }

    private void take(List<String> callers) {
        Deque<String> texts = new ArrayDeque<>(callers);
        Set<String> seen = new HashSet<>();
        while (!texts.isEmpty()) {
            Matcher name = NAME.matcher(SourceText.withoutComments(texts.pop()));
            while (name.find()) {
                String path = definedIn.getOrDefault(name.group(), "");
                if (!path.isEmpty() && seen.add(path)) {
                    taken.put(path, sources.get(path));
                    texts.push(sources.get(path).text());
                }
            }
        }
    }

    private static SortedMap<String, Bytes> walk(Path folder, String suffix) {
        SortedMap<String, Bytes> files = new TreeMap<>();
        if (!Files.isDirectory(folder)) {
            throw Failure.LIBRARY.exception(
                    "this folder of CMSIS-NN does not exist",
                    folder.toString(),
                    "the folders " + HEADERS + " and " + SOURCES + " in kiln.cmsisNn",
                    "Correct kiln.cmsisNn");
        }
        try (Stream<Path> walk = Files.walk(folder, FileVisitOption.FOLLOW_LINKS)) {
            for (Path file : walk.filter(path -> path.toString().endsWith(suffix))
                    .filter(Files::isRegularFile)
                    .limit(MOST_FILES)
                    .toList()) {
                files.put(folder.relativize(file).toString().replace('\\', '/'), Bytes.ofText(text(file)));
            }
        } catch (IOException | UncheckedIOException e) {
            throw FileFailure.of("cannot read", folder, e);
        }
        return files;
    }

    private static String text(Path file) {
        try {
            if (Files.size(file) > LARGEST) {
                throw Failure.LIBRARY.exception(
                        "the file is too large", file.toString(), "at most " + LARGEST + " bytes");
            }
            return Bytes.wrap(Files.readAllBytes(file)).text();
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }

    /** The names of functions that are not {@code static}; of several variants of one, which the preprocessor chooses from, one suffices. */
    static Set<String> defined(String source) {
        String code = DIRECTIVE.matcher(SourceText.withoutComments(source)).replaceAll("");
        Set<String> names = new TreeSet<>();
        Matcher definition = DEFINITION.matcher(code);
        while (definition.find()) {
            String name = definition.group(1);
            if (!STATEMENTS.contains(name)
                    && !LOCAL.matcher(specifiers(code, definition.start())).find()) {
                names.add(name);
            }
        }
        return names;
    }

    /** The specifiers before a function's name, from the end of the declaration before it. */
    private static String specifiers(String code, int name) {
        int start = name;
        while (start > 0 && ";{}".indexOf(code.charAt(start - 1)) < 0) {
            start--;
        }
        return code.substring(start, name);
    }
}
