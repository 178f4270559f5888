// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.build;

import io.kiln.base.FileFailure;
import io.kiln.firmware.FirmwareProject;
import io.kiln.firmware.SourceUnit;
import io.kiln.firmware.image.Measurement;
import io.kiln.report.ImageReport;
import io.kiln.report.ImageReport.Licence;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What is in an image: its sections and symbols, and the licences of the sources that it was compiled from. */
final class ImageContent {
    /** An SPDX expression; the characters are those of SPDX 2.3, annex D. */
    private static final Pattern LICENCE =
            Pattern.compile("SPDX-License-Identifier:[ \\t]*([A-Za-z0-9.+() -]{1,120}?)[ \\t]*(?:\\*/.*)?(?:\\R|\\z)");

    /** Files state it at their beginning. */
    private static final int HEAD = 4096;

    private ImageContent() {}

    static ImageReport of(Measurement measured, FirmwareProject project) {
        return new ImageReport(
                measured.sections().stream()
                        .map(s -> new ImageReport.Section(s.name(), s.memory(), s.address(), s.bytes()))
                        .toList(),
                measured.largest().stream()
                        .map(item -> new ImageReport.Symbol(item.name(), item.bytes(), item.writable()))
                        .toList(),
                licences(project));
    }

    private static List<Licence> licences(FirmwareProject project) {
        Map<String, Map<String, Integer>> files = new TreeMap<>();
        for (SourceUnit unit : project.units()) {
            String part = unit.path().replaceFirst("/.*", "");
            files.computeIfAbsent(part, name -> new TreeMap<>())
                    .merge(licence(project.directory().resolve(unit.path())), 1, Integer::sum);
        }
        List<Licence> licences = new ArrayList<>();
        files.forEach(
                (part, found) -> found.forEach((licence, count) -> licences.add(new Licence(part, licence, count))));
        return licences;
    }

    private static String licence(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            Matcher found = LICENCE.matcher(new String(in.readNBytes(HEAD), StandardCharsets.ISO_8859_1));
            return found.find() ? found.group(1).strip() : "";
        } catch (IOException e) {
            throw FileFailure.of("cannot read", file, e);
        }
    }
}
