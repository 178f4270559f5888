// SPDX-License-Identifier: Apache-2.0
/** The default application, which runs the models of an image at the request of a host on the console. */
package io.kiln.firmware.app;
