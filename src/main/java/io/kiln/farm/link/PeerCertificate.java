// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.netty.handler.ssl.NotSslRecordException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/**
 * What people need to know of the other side's certificate. Java does not look at the dates of a certificate that is trusted itself, rather than by
 * its signer, so farms do.
 */
public final class PeerCertificate {
    private PeerCertificate() {}

    /** Its owner, as in {@code CN=lab.example}. */
    static String name(X509Certificate certificate) {
        return certificate.getSubjectX500Principal().getName();
    }

    /** Why a certificate is not valid at a point in time; empty if it is. */
    static Optional<String> trouble(X509Certificate certificate, Instant now) {
        Instant end = certificate.getNotAfter().toInstant();
        Instant begin = certificate.getNotBefore().toInstant();
        if (now.isAfter(end)) {
            return Optional.of("expired on " + end);
        }
        return now.isBefore(begin)
                ? Optional.of("is not valid before " + begin + ", and this computer's clock says " + now)
                : Optional.empty();
    }

    /** The same of what the other side of a connection has shown; empty if it has shown no certificate. */
    public static Optional<String> trouble(SSLSession connection, Instant now) {
        try {
            X509Certificate shown = (X509Certificate) connection.getPeerCertificates()[0];
            return trouble(shown, now).map(why -> "its certificate " + name(shown) + " " + why);
        } catch (SSLPeerUnverifiedException e) {
            return Optional.empty();
        }
    }

    /** The hosts for which a certificate was issued. */
    static String hosts(X509Certificate certificate) {
        try {
            Collection<List<?>> names = certificate.getSubjectAlternativeNames();
            return names == null
                    ? "none"
                    : names.stream().map(name -> String.valueOf(name.get(1))).collect(Collectors.joining(", "));
        } catch (CertificateParsingException e) {
            return "none that can be read";
        }
    }

    /** Whether a certificate was refused because nobody known has signed it, rather than for its host. */
    static boolean isFromStranger(CertificateException refusal) {
        for (Throwable cause = refusal; cause != null; cause = cause.getCause()) {
            if (cause instanceof CertPathBuilderException || cause instanceof CertPathValidatorException) {
                return true;
            }
        }
        return false;
    }

    /** Why a broker's handshake with a member failed, for the broker's log. */
    public static String refusal(Throwable handshake) {
        for (Throwable cause = handshake; cause != null; cause = cause.getCause()) {
            if (cause instanceof NotSslRecordException) {
                return "it does not speak TLS";
            }
            if (cause instanceof ClosedChannelException) {
                return "it left during the TLS handshake";
            }
            if (cause instanceof CertPathValidatorException invalid
                    && invalid.getCertPath() != null
                    && invalid.getIndex() >= 0) {
                X509Certificate certificate = (X509Certificate)
                        invalid.getCertPath().getCertificates().get(invalid.getIndex());
                return "its certificate " + name(certificate) + " "
                        + trouble(certificate, Instant.now()).orElse("is not trusted: " + invalid.getReason());
            }
            if (cause instanceof CertPathBuilderException) {
                return "it shows a certificate that the farm does not trust";
            }
        }
        String message = String.valueOf(handshake.getMessage());
        if (message.contains("Empty client certificate chain")) {
            return "it shows no certificate that the farm trusts";
        }
        return message.contains("Received fatal alert: certificate_")
                ? "it does not trust the farm's certificate, or not for this host"
                : "no TLS 1.3 handshake: " + message;
    }
}
