// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.state;

import io.kiln.base.incremental.Fingerprint;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Properties;

/** The version of Kiln: when it changes, everything that it made is out of date. */
public final class PluginVersion {
    private static final int DIGEST_CHARACTERS = 12;

    private PluginVersion() {}

    /**
     * The version; for a snapshot also the digest of its jar, because snapshots change without changing their version.
     */
    public static String text() {
        String version = released();
        return version.endsWith("-SNAPSHOT") ? version + jarDigest() : version;
    }

    /** The version alone, as stated in archives. */
    public static String released() {
        Properties properties = new Properties();
        try (InputStream in = PluginVersion.class.getResourceAsStream("/kiln.properties")) {
            properties.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException("kiln.properties of this jar cannot be read", e);
        }
        return properties.getProperty("version");
    }

    private static String jarDigest() {
        CodeSource source = PluginVersion.class.getProtectionDomain().getCodeSource();
        try {
            Path jar = Path.of(source.getLocation().toURI());
            return Files.isRegularFile(jar) ? " " + Fingerprint.digest(jar).substring(0, DIGEST_CHARACTERS) : "";
        } catch (URISyntaxException e) {
            return "";
        }
    }
}
