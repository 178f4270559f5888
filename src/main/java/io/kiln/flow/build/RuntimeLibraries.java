// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.base.Digests;
import io.kiln.base.FileFailure;
import io.kiln.report.bom.ImageComponent;
import io.kiln.report.bom.ImageComponent.Kind;
import io.kiln.report.bom.ImageComponent.Licence;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What is known of the static libraries that compilers bring: their names, versions and licences. */
final class RuntimeLibraries {
    private static final Pattern GCC_VERSION = Pattern.compile("/gcc(?:-cross)?/[^/]+/([0-9][^/]*)/");
    private static final Pattern NEWLIB_VERSION = Pattern.compile("_NEWLIB_VERSION \"([^\"]{1,40})\"");
    private static final Pattern PICOLIBC_VERSION = Pattern.compile("_PICOLIBC_VERSION__? \"([^\"]{1,40})\"");
    private static final Pattern C_LIBRARY =
            Pattern.compile("lib(?:c|m|g|nosys|rdimon|stdc\\+\\+|supc\\+\\+)(?:_nano)?\\.a");

    private RuntimeLibraries() {}

    /**
     * A library of which an image has members.
     *
     * @param file the library
     * @param members how many
     */
    static ImageComponent component(Path file, int members) {
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
        try {
            return new ImageComponent(Kind.LIBRARY, name, version, licence, Digests.sha256(file), description);
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
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
        try {
            if (Files.isRegularFile(header)) {
                Matcher matcher = pattern.matcher(Files.readString(header));
                return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
            }
            return Optional.empty();
        } catch (IOException e) {
            throw FileFailure.of("cannot read", header, e);
        }
    }
}
