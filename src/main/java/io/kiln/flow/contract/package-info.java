// SPDX-License-Identifier: Apache-2.0
/** Java classes by which services talk to images: what models take and give, as source code. */
package io.kiln.flow.contract;
