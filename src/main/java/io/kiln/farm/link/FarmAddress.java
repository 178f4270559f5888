// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.base.ParameterValue;
import io.kiln.base.Problems;
import io.kiln.farm.link.FarmAddress.FarmAccess.Store;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Where a farm's broker is, and how to get in. Without TLS only a broker on this computer is reached.
 *
 * @param scheme which broker it is, and whether by TLS
 * @param host name or address
 * @param port 0 to 65535; 0 lets a broker choose
 * @param access the member's own identity, and whom it trusts
 * @param patience how long it may take to connect and to log in, on either side
 */
public record FarmAddress(Scheme scheme, String host, int port, FarmAccess access, Duration patience) {
    /** Which broker it is, and how it is reached. */
    public enum Scheme {
        /** Kiln's own broker, without TLS. */
        TCP(USUAL_PORT),
        /** Kiln's own broker by TLS. */
        TLS(USUAL_PORT),
        /** Any broker that speaks AMQP 1.0, without TLS. */
        AMQP(5672),
        /** Any broker that speaks AMQP 1.0, by TLS. */
        AMQPS(5671);

        private final int port;

        Scheme(int port) {
            this.port = port;
        }

        /** The same broker by TLS. */
        Scheme encrypted() {
            return isForeign() ? AMQPS : TLS;
        }

        private boolean isForeign() {
            return this == AMQP || this == AMQPS;
        }

        /** The scheme as addresses have it. */
        String text() {
            return ParameterValue.text(this);
        }
    }

    /** How long connecting may take if nothing else is said. */
    public static final Duration USUAL_PATIENCE = Duration.ofSeconds(20);

    /** The port of Artemis. */
    public static final int USUAL_PORT = 61616;

    private static final Pattern URL =
            Pattern.compile("(tcp|tls|amqps?)://([A-Za-z0-9.-]{1,253}|\\[[0-9a-fA-F:]{2,45}\\])(?::([0-9]{1,5}))?/?");
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

    /**
     * Reads an address.
     *
     * @param url {@code tcp://localhost:61616} or {@code tls://<host>:<port>}; {@code amqp://localhost:5672} or {@code amqps://<host>:<port>} for a
     *     broker of another make
     * @throws KilnException if it is not such an address, or something that it needs for TLS is missing
     */
    public static FarmAddress parse(String url, FarmAccess access) {
        Matcher matcher = URL.matcher(url.strip());
        if (!matcher.matches() || (matcher.group(3) != null && Integer.parseInt(matcher.group(3)) > 0xffff)) {
            throw Failure.FARM.exception(
                    "not the address of a farm: `" + url + "`",
                    "kiln.farm",
                    "tcp://localhost:" + USUAL_PORT
                            + " or tls://<host>:<port>, or amqps://<host>:<port> for a broker of another make");
        }
        Scheme scheme = Stream.of(Scheme.values())
                .filter(each -> each.text().equals(matcher.group(1)))
                .findFirst()
                .orElseThrow();
        int port = matcher.group(3) == null ? scheme.port : Integer.parseInt(matcher.group(3));
        return new FarmAddress(scheme, matcher.group(2), port, access, USUAL_PATIENCE);
    }

    /** The same address with another port. */
    public FarmAddress at(int otherPort) {
        return new FarmAddress(scheme, host, otherPort, access, patience);
    }

    /** The same address with another time for connecting. */
    public FarmAddress within(Duration otherPatience) {
        return new FarmAddress(scheme, host, port, access, otherPatience);
    }

    /** The address as {@code kiln.farm} has it. */
    public String url() {
        return scheme.text() + "://" + host + ":" + port;
    }

    public boolean isEncrypted() {
        return scheme == scheme.encrypted();
    }

    /** Whether the broker is of another make than Kiln's own. */
    public boolean isForeign() {
        return scheme.isForeign();
    }

    /** The same place by TLS. */
    FarmAddress encrypted() {
        return new FarmAddress(scheme.encrypted(), host, port, access, patience);
    }

    /** The host without the brackets of an IPv6 address. */
    public String bareHost() {
        return host.replaceAll("[\\[\\]]", "");
    }

    /** Whether only this computer reaches it. */
    public boolean isLoopback() {
        return LOOPBACK.contains(host);
    }

    /**
     * Checks what a member needs to get in.
     *
     * @throws KilnException with all that is missing
     */
    public void requireUsable() {
        Problems problems = new Problems(Failure.FARM);
        requireEncryption(problems);
        if (isEncrypted()) {
            require(problems, access.trust(), "kiln.farm.trustStore", "the broker's certificate, or its signer's");
        }
        requireProof(problems);
        requireStores(problems);
        problems.throwIfAny();
    }

    /**
     * Checks what a broker needs to listen there.
     *
     * @throws KilnException with all that is missing
     */
    public void requireSafe() {
        Problems problems = new Problems(Failure.FARM);
        requireEncryption(problems);
        if (isEncrypted()) {
            require(problems, access.keys(), "kiln.farm.keyStore", "the broker's key and certificate");
        }
        if (access.password().isEmpty() && (!isEncrypted() || access.trust().isEmpty())) {
            problems.add(
                    "refused: a broker that lets everybody in",
                    url(),
                    isEncrypted()
                            ? "kiln.farm.trustStore with the certificates of the farm's members, or kiln.farm.password"
                            : "a password");
        }
        requireStores(problems);
        problems.throwIfAny();
    }

    private void requireEncryption(Problems problems) {
        if (!isEncrypted() && !isLoopback()) {
            problems.add(
                    "refused: a farm on another computer without TLS",
                    url(),
                    encrypted().url(),
                    "Without TLS a farm stays on one computer: " + scheme.text() + "://localhost");
        }
    }

    private void requireProof(Problems problems) {
        if (access.password().isEmpty() && (!isEncrypted() || access.keys().isEmpty())) {
            problems.add(
                    "nothing says who this member of the farm is",
                    url(),
                    isEncrypted() ? "kiln.farm.keyStore with a certificate, or kiln.farm.password" : "a password");
        }
    }

    private static void require(Problems problems, Optional<Store> store, String parameter, String content) {
        if (store.isEmpty()) {
            problems.add(parameter + " is not set", "", "a PKCS #12 file with " + content);
        }
    }

    private void requireStores(Problems problems) {
        access.keys().ifPresent(store -> FarmStores.requireKeys(problems, store, Instant.now()));
        access.trust().ifPresent(store -> FarmStores.requireTrust(problems, store));
    }

    /**
     * How a member of a farm proves its identity, and whom it trusts.
     *
     * @param keys the member's own key and certificate
     * @param trust certificates of the members that it trusts, or of whoever signed these
     * @param password a password that all members of the farm know
     */
    public record FarmAccess(Optional<Store> keys, Optional<Store> trust, Optional<String> password) {
        /** Access by a password alone. */
        public static FarmAccess by(String password) {
            return new FarmAccess(Optional.empty(), Optional.empty(), Optional.of(password));
        }

        /**
         * A store of keys or certificates.
         *
         * @param file in the format PKCS #12
         * @param password its password
         */
        public record Store(Path file, String password) {
            /** The file, without the password. */
            @Override
            public String toString() {
                return file.toString();
            }
        }

        /** The kinds of proof, without secrets. */
        @Override
        public String toString() {
            return "keys " + keys + ", trust " + trust + (password.isPresent() ? ", a password" : "");
        }
    }
}
