// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.link;

import io.kiln.farm.link.FarmAddress.FarmAccess.Store;
import io.kiln.farm.link.FarmAddress.FarmStores;
import java.util.HashMap;
import java.util.Map;
import org.apache.activemq.artemis.api.core.TransportConfiguration;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyAcceptorFactory;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyConnectorFactory;
import org.apache.activemq.artemis.core.remoting.impl.netty.TransportConstants;

/** Converts addresses to the engine's configuration. */
public final class Transports {
    /** A property of the engine's protocol; without it a member's packets have 128 KiB at most. */
    private static final String LARGEST_PACKET = "coreMaxFrameSize";

    /** The only version of TLS. */
    static final String PROTOCOLS = "TLSv1.3";

    private Transports() {}

    /** How a member connects. */
    static TransportConfiguration connector(FarmAddress address) {
        Map<String, Object> values = common(address);
        values.put(TransportConstants.NETTY_CONNECT_TIMEOUT, (int)
                address.patience().toMillis());
        if (address.isEncrypted()) {
            values.put(TransportConstants.VERIFY_HOST_PROP_NAME, true);
        }
        return new TransportConfiguration(NettyConnectorFactory.class.getName(), values);
    }

    /**
     * How a broker takes connections that somebody else has accepted, as from a server that speaks HTTP first. It asks members for certificates if it
     * has any to trust.
     *
     * @param name of the acceptor
     */
    public static TransportConfiguration acceptor(FarmAddress address, String name) {
        Map<String, Object> values = common(address);
        values.put(TransportConstants.PROTOCOLS_PROP_NAME, "CORE");
        values.put(TransportConstants.HTTP_UPGRADE_ENABLED_PROP_NAME, true);
        if (address.isEncrypted()) {
            values.put(
                    TransportConstants.NEED_CLIENT_AUTH_PROP_NAME,
                    address.access().trust().isPresent());
        }
        return new TransportConfiguration(
                NettyAcceptorFactory.class.getName(),
                values,
                name,
                Map.of(LARGEST_PACKET, FarmQueues.MOST_PACKET_BYTES));
    }

    private static Map<String, Object> common(FarmAddress address) {
        Map<String, Object> values = new HashMap<>();
        values.put(TransportConstants.HOST_PROP_NAME, address.bareHost());
        values.put(TransportConstants.PORT_PROP_NAME, address.port());
        values.put(TransportConstants.USE_EPOLL_PROP_NAME, false);
        values.put(TransportConstants.USE_KQUEUE_PROP_NAME, false);
        if (address.isEncrypted()) {
            values.put(TransportConstants.SSL_ENABLED_PROP_NAME, true);
            values.put(TransportConstants.SSL_HANDSHAKE_TIMEOUT, (int)
                    address.patience().toSeconds());
            values.put(TransportConstants.ENABLED_PROTOCOLS_PROP_NAME, PROTOCOLS);
            address.access().keys().ifPresent(keys -> keys(values, keys));
            address.access().trust().ifPresent(trust -> trust(values, trust));
        }
        return values;
    }

    private static void keys(Map<String, Object> values, Store store) {
        values.put(TransportConstants.KEYSTORE_TYPE_PROP_NAME, FarmStores.FORMAT);
        values.put(
                TransportConstants.KEYSTORE_PATH_PROP_NAME,
                store.file().toAbsolutePath().toString());
        values.put(TransportConstants.KEYSTORE_PASSWORD_PROP_NAME, store.password());
    }

    private static void trust(Map<String, Object> values, Store store) {
        values.put(TransportConstants.TRUSTSTORE_TYPE_PROP_NAME, FarmStores.FORMAT);
        values.put(
                TransportConstants.TRUSTSTORE_PATH_PROP_NAME,
                store.file().toAbsolutePath().toString());
        values.put(TransportConstants.TRUSTSTORE_PASSWORD_PROP_NAME, store.password());
    }
}
